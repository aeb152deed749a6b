// SPDX-License-Identifier: MIT
// Writes how the ranks stand into the run directory, again and again while they run.
#pragma once

#include "base/os/system.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/monitor/usage_state.hpp"
#include "launch/run/launch_output.hpp"
#include "launch/run/launch_run.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

class UsageWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Takes the reports of `ranks`, and the output of all ranks where that is framed.
  UsageWriter(System& system, const LaunchRun& run, RankMonitor& ranks, std::optional<LaunchOutput>& output);
  UsageWriter(const UsageWriter&) = delete;
  UsageWriter& operator=(const UsageWriter&) = delete;
  void take_output(std::uint32_t rank, std::string_view bytes) { states_.take_output(rank, bytes); }
  // Writes as often as the ranks report, or less often where the disk is slow.
  void tick(Time now);
  // After the end of the ranks.
  void finish();

 private:
  void write(const UsageState& state);

  System& system_;
  const RankMonitor& ranks_;
  RankStates states_;
  std::string path_;
  Time next_{};
  bool failed_ = false;
};

}  // namespace ddlrun::launch
