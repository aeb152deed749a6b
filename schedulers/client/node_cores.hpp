// SPDX-License-Identifier: MIT
// The cores of a queue's nodes, as the scheduler lists them, for jobs whose settings lack them.
#pragma once

#include "schedulers/job/node_list.hpp"
#include "schedulers/job/scheduler.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct NodeCores {
  std::optional<std::uint32_t> cores;  // where all nodes agree
  std::uint64_t nodes = 0;             // likewise: how many there are
  std::string source;                  // "all 4 nodes of queue normal, by pbsnodes"
  std::string counts;                  // where they differ: "3 nodes have 68, 1 has 40, by pbsnodes"
  std::string problem;                 // what the command reports that failed
};

// `queue`: "" for the nodes of any queue. Nothing for nodes that belong to another queue.
NodeCores summarize_node_cores(const std::vector<ListedNode>& nodes, const std::string& queue,
                               std::string_view command);

// All nodes that a queue's jobs can get, also where it passes them on to another queue.
std::vector<ListedNode> possible_nodes(std::vector<ListedNode> nodes, const std::string& queue);

struct NodeListing {
  std::vector<ListedNode> nodes;  // empty where nothing was learnt
  std::string_view command;       // "sinfo"; "" for a scheduler without such a list
  std::string problem;            // what the command reports that failed
};

// By `pbsnodes`, all nodes of the server, or by `sinfo`, those of the queue.
NodeListing list_nodes(const CommandRunner& ask, SchedulerKind kind, const std::string& queue);

// The same; no cores where the scheduler does not answer or has no such list.
NodeCores find_node_cores(const CommandRunner& ask, SchedulerKind kind, const std::string& queue);

}  // namespace ddlrun::schedulers
