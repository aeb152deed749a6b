// SPDX-License-Identifier: MIT
#include "schedulers/client/node_fit.hpp"

#include "base/text/text.hpp"
#include "schedulers/client/node_cores.hpp"
#include "schedulers/slurm/partition_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>

namespace ddlrun::schedulers {

namespace {

// A thing of which each node of the job needs a number. Where a node does not list it, the node has enough.
struct NodeNeed {
  std::string name, what, effect;  // "cores", "4 ranks a node need 4 cores", "launch would refuse it there"
  std::uint64_t number = 0;
  std::function<std::uint64_t(const ListedNode&)> of_node;
  std::function<std::string(std::uint64_t)> hint;  // by the most that a node has
};

constexpr std::string_view waits = "it would wait forever";
constexpr std::uint64_t not_listed = UINT64_MAX;

std::string count_of(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// The same ranks on more nodes, where they are there; else fewer.
std::string shape_of(const JobSpec& job, std::uint64_t ranks_per_node, std::size_t nodes) {
  const std::uint64_t ranks = job.dims.world_size();
  if (ranks % ranks_per_node == 0 && ranks / ranks_per_node <= nodes && job.hosts.empty())
    return fmt::format("{}x{}   # the same {} on {}", ranks_per_node, ranks / ranks_per_node,
                       count_of(ranks, "rank"), count_of(ranks / ranks_per_node, "node"));
  return fmt::format("{}x{}", ranks_per_node, std::min<std::uint64_t>(job.nodes(), nodes));
}

// The same ranks on more nodes, or fewer ranks.
std::string fewer_ranks(const JobSpec& job, std::uint64_t most, std::size_t nodes) {
  return shape_of(job, std::max<std::uint64_t>(1, most), nodes) +
         (job.runner == Runner::ddlrun ? "; or --oversubscribe, to try it on shared cores" : "");
}

// launch refuses more ranks than cores.
NodeNeed need_of_cores(const JobSpec& job, std::size_t nodes) {
  const std::uint32_t ranks = job.ranks_per_node();
  return {"cores",
          fmt::format("{} a node need {}", count_of(ranks, "rank"), count_of(ranks, "core")),
          "launch would refuse it there",
          ranks,
          [](const ListedNode& node) -> std::uint64_t { return node.cores > 0 ? node.cores : not_listed; },
          [&job, nodes](std::uint64_t most) { return fewer_ranks(job, most, nodes); }};
}

// The scheduler gives no job more CPUs of a node than the node has.
NodeNeed need_of_cpus(const JobSpec& job, std::size_t nodes) {
  const std::uint64_t ranks = job.ranks_per_node(), threads = std::max(1u, job.threads);
  const bool by_node = job.scheduler == SchedulerKind::pbs && job.cores_per_node > 0;
  std::uint64_t cpus = by_node ? job.cores_per_node : ranks * threads;
  if (job.scheduler == SchedulerKind::slurm && job.threads > 0)
    cpus *= std::max(1u, job.hardware_threads_per_core);
  const std::string what =
      by_node       ? "cores_per_node requests " + count_of(cpus, "CPU")
      : threads > 1 ? fmt::format("{} x {} a node need {}", count_of(ranks, "rank"),
                                  count_of(threads, "thread"), count_of(cpus, "CPU"))
                    : fmt::format("{} a node need {}", count_of(ranks, "rank"), count_of(cpus, "CPU"));
  return {"CPUs",
          what,
          std::string(waits),
          cpus,
          [](const ListedNode& node) -> std::uint64_t { return node.cpus > 0 ? node.cpus : not_listed; },
          [&job, nodes, ranks, by_node, each = cpus / (ranks * threads)](std::uint64_t most) {
            if (by_node) return fmt::format("--cores-per-node {}", most);
            const std::uint64_t fit = most / std::max<std::uint64_t>(1, each);
            return fit >= ranks ? fmt::format("--threads {}", fit / ranks) : fewer_ranks(job, fit, nodes);
          }};
}

NodeNeed need_of_gpus(const JobSpec& job) {
  return {"GPUs",
          fmt::format("{} a node {} requested", count_of(job.gpus_per_node, "GPU"),
                      job.gpus_per_node == 1 ? "is" : "are"),
          std::string(waits),
          job.gpus_per_node,
          [](const ListedNode& node) -> std::uint64_t { return node.gpus.value_or(not_listed); },
          [](std::uint64_t most) {
            return most == 0 ? std::string("no --gpus")
                             : fmt::format("--gpus {}, and as many ranks a node", most);
          }};
}

// Words for the scheduler that the settings do not have.
bool changes_request(const std::string& directive) {
  return std::ranges::any_of(std::array{"-M", "--clusters", "-O", "--overcommit", "-l "},
                             [&](const char* lead) { return directive.starts_with(lead); });
}

std::optional<Message> fault_of_need(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                     const NodeNeed& need, std::string_view command) {
  std::uint64_t most = 0;
  std::size_t able = 0;
  for (const ListedNode& node : nodes) {
    const std::uint64_t has = need.of_node(node);
    if (has >= need.number) ++able;
    if (has != not_listed) most = std::max(most, has);
  }
  if (able >= job.nodes()) return std::nullopt;
  const std::string queue = job.queue.empty() ? "" : " of queue " + printable(job.queue, 60);
  const std::string found = able == 0
                                ? fmt::format("no node{} has more than {}", queue, most)
                                : fmt::format("{} of the {} nodes{} {} so many, the job needs {}", able,
                                              nodes.size(), queue, able == 1 ? "has" : "have", job.nodes());
  const std::string hint = able == 0 ? need.hint(most) : fmt::format("{}x{}", job.ranks_per_node(), able);
  return Message{fmt::format("{}, and {}: {}", need.what, found, need.effect),
                 fmt::format("{} of the nodes, by {}", need.name, command), hint + "; or another --queue"};
}

}  // namespace

std::optional<Message> find_node_fault(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                       std::string_view command) {
  if (nodes.empty()) return std::nullopt;
  if (job.nodes() > nodes.size()) {
    const std::string queue = job.queue.empty() ? "" : " for queue " + printable(job.queue, 60);
    return Message{
        fmt::format("{} are requested, and there {}{}: {}", count_of(job.nodes(), "node"),
                    (nodes.size() == 1 ? "is " : "are ") + count_of(nodes.size(), "node"), queue, waits),
        fmt::format("nodes, by {}", command),
        fmt::format("at most {}; or another --queue", count_of(nodes.size(), "node"))};
  }
  std::vector<NodeNeed> needs;
  if (!job.oversubscribes()) {
    needs.push_back(need_of_cpus(job, nodes.size()));
    if (job.runner == Runner::ddlrun) needs.push_back(need_of_cores(job, nodes.size()));
  }
  needs.push_back(need_of_gpus(job));
  for (const NodeNeed& need : needs)
    if (auto fault = fault_of_need(job, nodes, need, command)) return fault;
  return std::nullopt;
}

std::optional<RequestFault> find_request_fault(System& system, const JobSpec& job) {
  if (job.scheduler == SchedulerKind::slurm) {
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(10);
    const ProcessResult answer = system.processes.run(partition_limits_command(), limits);
    if (!answer.ok()) return std::nullopt;
    if (auto fault = find_limit_fault(job, parse_partition_limits(answer.out))) {
      if (job.qos.empty()) fault->hint += "; or --qos NAME, one that permits more";
      return RequestFault{*std::move(fault), !job.qos.empty()};
    }
  }
  // What a template requests is in its text.
  if (!job.script_template.empty() || std::ranges::any_of(job.directives, changes_request))
    return std::nullopt;
  const NodeListing listing = list_nodes(system, job.scheduler, job.queue);
  auto fault = find_node_fault(job, listing.nodes, listing.command);
  if (!fault) return std::nullopt;
  return RequestFault{*std::move(fault)};
}

}  // namespace ddlrun::schedulers
