// SPDX-License-Identifier: MIT
// Prints where the ranks run, beside where they were planned.
#pragma once

#include "base/os/system.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/run/launch_run.hpp"

#include <vector>

namespace ddlrun::launch {

// The table; then a warning, with --strict an error, if a rank runs elsewhere or has not reported its place.
void print_places(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows);

// After the end: which ranks never reported, unless all have and the table was printed.
void print_silent(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows);

}  // namespace ddlrun::launch
