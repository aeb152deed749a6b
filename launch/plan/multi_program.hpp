// SPDX-License-Identifier: MIT
// `launch --multi-prog FILE`: many programs at once.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/rank/rank_map.hpp"

namespace ddlrun::launch {

// The list's groups in the rank map, if there is a list. Error{usage} with a program or a framework beside
// it; Error{request} at FILE:LINE:COLUMN.
void assign_programs(System& system, const LaunchSpec& spec, RankMap& rank_map);

}  // namespace ddlrun::launch
