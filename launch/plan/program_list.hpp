// SPDX-License-Identifier: MIT
// Many programs at once: a YAML file with a program for ranks, or for the ranks of hosts. Pure.
//
//   - ranks: 0-1
//     name: ps
//     program: [./server, --port, "2222"]
//     serves: true             # ended once all others have
//   - hosts: h[2-3]
//     program: ./worker        # one word
//     set: {MODE: train}       # variables of these ranks; {rank} and the like are filled in
// What `set` gives is kept in files of the run: a name that looks like a secret is refused there.
#pragma once

#include "launch/rank/rank_map.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// The groups of the rank map: each rank is in exactly one, and neighbours of one entry form one group.
// Error{request} at FILE:LINE:COLUMN: an unknown key, a rank twice or not at all, a rank or host that the job
// does not have, a secret. `is_here`: which names mean this machine: all of them are one host; none are
// without it.
std::vector<RankGroup> parse_program_list(std::string_view text, const std::string& file,
                                          const RankMap& rank_map,
                                          const std::function<bool(const std::string& host)>& is_here = {});

}  // namespace ddlrun::launch
