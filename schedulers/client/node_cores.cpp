// SPDX-License-Identifier: MIT
#include "schedulers/client/node_cores.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/scheduler_errors.hpp"

#include <fmt/format.h>

#include <map>

namespace ddlrun::schedulers {

namespace {

constexpr std::size_t most_counts = 4;

// Silent where it is not installed: --dry-run works on any machine.
std::string why_no_answer(std::string_view command, const ProcessResult& result) {
  if (!result.start_error.empty()) return {};
  return fmt::format("{} reports \"{}\" (exit status {})", command, reported_text(result),
                     result.exit_status);
}

}  // namespace

std::vector<ListedNode> possible_nodes(std::vector<ListedNode> nodes, const std::string& queue) {
  const QueueNodes of_queue = find_queue_nodes(queue, nodes, &ListedNode::queue);
  std::erase_if(nodes, [&](const ListedNode& node) { return !of_queue.reaches(node.queue); });
  return nodes;
}

NodeCores summarize_node_cores(const std::vector<ListedNode>& nodes, const std::string& queue,
                               std::string_view command) {
  const QueueNodes of_queue = find_queue_nodes(queue, nodes, &ListedNode::queue);
  std::size_t chosen = 0;
  std::map<std::uint32_t, std::size_t> counts;
  for (const ListedNode& node : nodes) {
    if (!of_queue.serves(node.queue)) continue;
    ++chosen;
    if (node.cores > 0) ++counts[node.cores];
  }
  NodeCores found;
  if (counts.size() == 1) {
    found.cores = counts.begin()->first;
    found.nodes = counts.begin()->second;
    found.source =
        fmt::format("{}{}, by {}", chosen == 1 ? "the only node" : fmt::format("all {} nodes", chosen),
                    of_queue.has_own ? " of queue " + printable(queue, 60) : "", command);
    return found;
  }
  std::size_t shown = 0;
  for (auto at = counts.rbegin(); at != counts.rend() && shown < most_counts; ++at, ++shown)
    found.counts += fmt::format("{}{} with {}", found.counts.empty() ? "" : ", ", at->second, at->first);
  if (!found.counts.empty()) found.counts += fmt::format(", by {}", command);
  return found;
}

NodeListing list_nodes(const CommandRunner& ask, SchedulerKind kind, const std::string& queue) {
  const bool pbs = kind == SchedulerKind::pbs;
  if (!pbs && kind != SchedulerKind::slurm) return {};
  NodeListing listing;
  listing.command = pbs ? "pbsnodes" : "sinfo";
  Command command =
      pbs ? Command{"pbsnodes", "-a", "-F", "json"} : Command{"sinfo", "-h", "-N", "-o", "%N %X %Y %c %G"};
  if (!pbs && !queue.empty()) command.insert(command.end(), {"-p", queue});
  const ProcessResult result = ask(command);
  if (!result.ok())
    listing.problem = why_no_answer(listing.command, result);
  else
    listing.nodes = pbs ? parse_pbsnodes_json(result.out) : parse_sinfo_nodes(result.out);
  return listing;
}

NodeCores find_node_cores(const CommandRunner& ask, SchedulerKind kind, const std::string& queue) {
  const NodeListing listing = list_nodes(ask, kind, queue);
  if (!listing.problem.empty()) return {{}, 0, "", "", listing.problem};
  return summarize_node_cores(listing.nodes, kind == SchedulerKind::pbs ? queue : "", listing.command);
}

}  // namespace ddlrun::schedulers
