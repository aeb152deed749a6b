// SPDX-License-Identifier: MIT
// A run that goes on and stands still, as its launch reports it now.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/history.hpp"
#include "launch/monitor/usage_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ddlrun::launch {

struct StandingRun {
  std::string id;
  Standstill standstill;
};

// Whether the launch of a run has written its usage lately: it goes on, also on another host.
bool is_reporting(System& system, const std::string& directory);

// Nothing where the run has ended or gets on, or where its launch has written nothing for long.
std::optional<Standstill> find_standstill(RunState state, const UsageState& usage, std::int64_t now_s);

// The same of a run directory; nothing also where its files are damaged.
std::optional<StandingRun> find_standing_run(System& system, const std::string& directory);

}  // namespace ddlrun::launch
