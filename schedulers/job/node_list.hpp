// SPDX-License-Identifier: MIT
// A node as the scheduler lists it.
#pragma once

#include <algorithm>
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

// Which nodes the jobs of a queue can get, by the queues to which nodes of PBS belong. OpenPBS 23.06 gives
// the jobs of a queue with nodes of its own only these, and those of any other queue only nodes of no queue.
// But a routing queue, or the server for "", passes its jobs on to any queue.
struct QueueNodes {
  std::string queue;
  bool has_own = false;

  bool serves(const std::string& node_queue) const { return node_queue == (has_own ? queue : ""); }
  bool reaches(const std::string& node_queue) const { return !has_own || node_queue == queue; }
};

// `queue_of`: the queue to which a node belongs, or "".
template <typename Node, typename QueueOf>
QueueNodes find_queue_nodes(const std::string& queue, const std::vector<Node>& nodes, QueueOf queue_of) {
  return {queue,
          !queue.empty() && std::ranges::any_of(
                                nodes, [&](const std::string& own) { return own == queue; }, queue_of)};
}

// `pbsnodes -a -F json`: the ncpus and ngpus of each host, the sum of its vnodes; nodes that are down or
// offline too. Empty where it is no JSON.
std::vector<ListedNode> parse_pbsnodes_json(std::string_view out);

// Lines of `sinfo -h -N -o "%N %X %Y %c %G"`: name, sockets, cores of each, CPUs, generic resources.
std::vector<ListedNode> parse_sinfo_nodes(std::string_view out);

}  // namespace ddlrun::schedulers
