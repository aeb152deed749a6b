// SPDX-License-Identifier: MIT
// The output of the ranks that arrives in frames: on the screen, with or without the rank before each line,
// in one file for each rank and stream, or both. Without --rank-output and --tee only stderr is framed.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/rank/line_assembler.hpp"
#include "launch/rank/output_frame.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// "--rank-output files", "--tee": the flag that `spec` comes from.
std::string render_output_flag(const OutputSpec& spec);

class LaunchOutput {
 public:
  // `on_err` gets each whole line of a rank's stderr. `ranks`: a frame of any other is dropped.
  LaunchOutput(System& system, const OutputSpec& spec, const std::string& directory, const std::string& token,
               std::function<void(std::uint32_t rank, std::string_view line)> on_err, std::size_t ranks);
  LaunchOutput(const LaunchOutput&) = delete;
  LaunchOutput& operator=(const LaunchOutput&) = delete;

  // Passes the output of each rank to `sink`, in pieces.
  void share_output(std::function<void(std::uint32_t rank, std::string_view bytes)> sink) {
    sink_ = std::move(sink);
  }
  // Takes frames out of the line and returns the rest of it.
  std::string take(std::string_view line);
  // Writes the complete lines so far.
  void flush();
  // About twice a second: lines that still have no end are shown, where no prefix would stand in them.
  void tick();
  // After the end of the job: writes the rest and reports output that is missing.
  void finish();

 private:
  enum class Show { nothing, plain, prefixed };
  using Key = std::pair<std::uint32_t, RankStream>;
  struct File {
    std::string path;
    std::string waiting;
    bool made = false;
  };

  void show_line(std::uint32_t rank, RankStream stream, std::string_view line);
  void show_waiting(std::uint32_t rank, RankStream stream, std::string_view bytes);
  void flush_screen();
  void write_files();
  void give_up_files(const Message& why);
  void write_out();

  System& system_;
  bool keeps_files_, reports_loss_;
  Show show_;
  std::string directory_;
  std::function<void(std::uint32_t, std::string_view)> on_err_, sink_;
  std::size_t ranks_;
  OutputReader reader_;
  OutputCount count_;
  LineAssembler shown_;      // also lines without an end, once they have waited
  LineAssembler err_lines_;  // whole
  std::map<Key, File> files_;
  std::string out_, err_;  // for the screen
  bool out_failed_ = false;
};

}  // namespace ddlrun::launch
