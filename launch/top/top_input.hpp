// SPDX-License-Identifier: MIT
// What `ddlrun top` shows of a run, as its files have it now.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/history.hpp"
#include "launch/history/run_record.hpp"
#include "launch/history/training.hpp"
#include "launch/monitor/usage_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ddlrun::launch {

// The last that the bundled trainer wrote.
struct TrainingProgress {
  std::optional<TrainingStep> step;
  std::optional<TrainingEpoch> epoch;
  std::optional<std::int64_t> age_s;  // since then
};

struct TopInput {
  RunRecord run;  // without ranks
  RunState state = RunState::running;
  std::string running_on;               // the host of its ddlrun, where that is another one
  std::optional<std::int64_t> seconds;  // how long it took, or has run
  std::optional<UsageState> usage;      // nothing where launch has written none
  std::int64_t age_s = 0;               // of the usage
  std::optional<TrainingProgress> progress;

  bool is_over() const { return state == RunState::ended || state == RunState::unseen; }
  // Several reports of the ranks are missing.
  bool is_stale() const;
};

class TopReader {
 public:
  // Error{request} for a damaged record.
  TopReader(System& system, std::string directory);
  // Again what has changed. Error{request} for a damaged file.
  const TopInput& read();
  // What the last read() found.
  const TopInput& input() const { return input_; }

 private:
  void read_usage(std::int64_t now_s);
  void read_end();
  void read_progress(std::int64_t now_s);

  System& system_;
  std::string directory_;
  TopInput input_;
};

// Of the lines of a file of metrics, the first of which may be a part of one.
TrainingProgress find_progress(std::string_view lines);

}  // namespace ddlrun::launch
