// SPDX-License-Identifier: MIT
// What the ranks say, rank by rank: on the screen with the rank before each line, in one file for each rank
// and stream, or both.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_options.hpp"
#include "launch/plan/monitor_options.hpp"
#include "launch/rank/line_assembler.hpp"
#include "launch/rank/output_frame.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::cli {

struct OutputPlan {
  enum class Show { nothing, plain, prefixed };
  bool marked = false;  // the keepers mark what their ranks say; else it comes as the launcher gives it
  bool files = false;
  Show show = Show::plain;
};

// Error{usage} for an unknown word, and for what contradicts other options.
OutputPlan plan_output(const LaunchOptions& options, const MonitorOptions& watch);

class LaunchOutput {
 public:
  // `on_err` gets each whole line of a rank's stderr.
  LaunchOutput(System& system, const OutputPlan& plan, const std::string& folder, const std::string& token,
               std::function<void(std::uint32_t rank, std::string_view line)> on_err);
  LaunchOutput(const LaunchOutput&) = delete;
  LaunchOutput& operator=(const LaunchOutput&) = delete;

  // What of the line belongs to somebody else.
  std::string take(std::string_view line);
  // Writes what has come.
  void flush();
  // About twice a second: lines without an end are shown, where no prefix would stand in them.
  void tick();
  // After the end of the job; tells where the files are, and what did not come.
  void finish();

 private:
  using Key = std::pair<std::uint32_t, launch::RankStream>;
  struct File {
    std::string path;
    std::string waiting;
    bool made = false;
  };

  void take_line(std::uint32_t rank, launch::RankStream stream, std::string_view line);
  void write_files();
  void give_up_files(const std::string& why);
  void write_out();

  System& system_;
  OutputPlan plan_;
  std::string folder_;
  std::function<void(std::uint32_t, std::string_view)> on_err_;
  launch::OutputReader reader_;
  launch::OutputCount count_;
  launch::LineAssembler lines_;
  std::map<Key, File> files_;
  std::string out_, err_;  // for the screen
  bool out_failed_ = false;
};

}  // namespace ddlrun::cli
