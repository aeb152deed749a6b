// SPDX-License-Identifier: MIT
// A node as the scheduler lists it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct ListedNode {
  std::string name;
  std::uint32_t cores = 0;  // 0: not listed
  std::string queue;        // the only queue that it serves; "": any
  std::uint32_t cpus = 0;   // as the scheduler counts them, often hardware threads; 0: not listed
  std::optional<std::uint32_t> gpus = std::nullopt;  // nothing: not listed

  bool operator==(const ListedNode&) const = default;
};

// `pbsnodes -a -F json`: the ncpus and ngpus of each host, the sum of its vnodes; nodes that are down or
// offline too. Empty where it is no JSON.
std::vector<ListedNode> parse_pbsnodes_json(std::string_view out);

// Lines of `sinfo -h -N -o "%N %X %Y %c %G"`: name, sockets, cores of each, CPUs, generic resources.
std::vector<ListedNode> parse_sinfo_nodes(std::string_view out);

}  // namespace ddlrun::schedulers
