// SPDX-License-Identifier: MIT
// A node as the scheduler lists it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct ListedNode {
  std::string name;
  std::uint32_t cores = 0;  // 0: not listed
  std::string queue;        // the only queue that it serves; "": any
};

// `pbsnodes -a -F json`: the ncpus of each vnode; nodes that are down or offline too. Empty where it is no
// JSON.
std::vector<ListedNode> parse_pbsnodes_json(std::string_view out);

// Lines of `sinfo -h -N -o "%N %X %Y"`: name, sockets, cores of each.
std::vector<ListedNode> parse_sinfo_cores(std::string_view out);

}  // namespace ddlrun::schedulers
