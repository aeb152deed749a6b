// SPDX-License-Identifier: MIT
// Which rank holds the others up, as far as the use of cores and the states of processes show it. Pure.
#pragma once

#include "launch/monitor/usage_state.hpp"

#include <string>

namespace ddlrun::launch {

// Of the cores that are the rank's, 1: all of them; of one core for a rank without cores of its own.
double core_use(const RankState& rank);

// The median use of the ranks that run; 0 where none does.
double median_use(const UsageState& state);

// "rank 3 on h2 works while 7 of 8 ranks wait"; "none stands out".
std::string describe_slowest(const UsageState& state);

}  // namespace ddlrun::launch
