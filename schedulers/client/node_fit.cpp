// SPDX-License-Identifier: MIT
#include "schedulers/client/node_fit.hpp"

#include "base/text/text.hpp"
#include "schedulers/client/node_cores.hpp"
#include "schedulers/job/job_parser.hpp"
#include "schedulers/slurm/partition_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>

namespace ddlrun::schedulers {

namespace {

// A thing of which each node of the job needs a number. Where a node does not list it, the node has enough.
struct NodeNeed {
  std::string name, what, effect;  // "cores", "4 ranks a node need 4 cores", "launch would refuse the job"
  std::uint64_t number = 0;
  std::function<std::uint64_t(const ListedNode&)> of_node;
  std::function<std::string(std::uint64_t)> hint;  // by the most that a node has
};

constexpr std::string_view waits = "the job would wait forever";
constexpr std::uint64_t not_listed = UINT64_MAX;

// The same ranks on more nodes, where they are there; else fewer.
std::string shape_of(const JobSpec& job, std::uint64_t ranks_per_node, std::size_t nodes) {
  const std::uint64_t ranks = job.dims.world_size();
  if (ranks % ranks_per_node == 0 && ranks / ranks_per_node <= nodes && job.hosts.empty())
    return fmt::format("{}x{}   # the same {} on {}", ranks_per_node, ranks / ranks_per_node,
                       counted(ranks, "rank"), counted(ranks / ranks_per_node, "node"));
  return fmt::format("{}x{}", ranks_per_node, std::min<std::uint64_t>(job.nodes(), nodes));
}

// The same ranks on more nodes, or fewer ranks.
std::string fewer_ranks(const JobSpec& job, std::uint64_t most, std::size_t nodes) {
  const bool can_share = job.runner == Runner::ddlrun && !job.oversubscribes();
  return shape_of(job, std::max<std::uint64_t>(1, most), nodes) +
         (can_share ? "; or --oversubscribe, to try it on shared cores" : "");
}

// launch refuses more ranks than cores.
NodeNeed need_of_cores(const JobSpec& job, std::size_t nodes) {
  const std::uint32_t ranks = job.ranks_per_node();
  return {"cores",
          fmt::format("{} a node need {}", counted(ranks, "rank"), counted(ranks, "core")),
          "launch would refuse the job",
          ranks,
          [](const ListedNode& node) -> std::uint64_t { return node.cores > 0 ? node.cores : not_listed; },
          [&job, nodes](std::uint64_t most) { return fewer_ranks(job, most, nodes); }};
}

// CPUs as Slurm counts them for each thread of a rank; without threads a rank gets one.
std::uint64_t cpus_of_rank(const JobSpec& job) {
  const bool by_core = job.scheduler == SchedulerKind::slurm && job.threads > 0;
  return std::uint64_t{std::max(1u, job.threads)} *
         (by_core ? std::max(1u, job.hardware_threads_per_core) : 1);
}

// The scheduler gives no job more CPUs of a node than the node has.
NodeNeed need_of_cpus(const JobSpec& job, std::size_t nodes) {
  const std::uint64_t ranks = job.ranks_per_node(), threads = std::max(1u, job.threads);
  const bool pbs = job.scheduler == SchedulerKind::pbs;
  const bool by_node = job.cores_per_node > 0 && (pbs || job.shared_cpus > 0);
  const std::uint64_t cpus = pbs && by_node        ? job.cores_per_node
                             : job.shared_cpus > 0 ? job.shared_cpus
                                                   : ranks * cpus_of_rank(job);
  const std::string what =
      by_node       ? "cores_per_node requests " + counted(cpus, "CPU")
      : threads > 1 ? fmt::format("{} x {} a node need {}", counted(ranks, "rank"),
                                  counted(threads, "thread"), counted(cpus, "CPU"))
                    : fmt::format("{} a node need {}", counted(ranks, "rank"), counted(cpus, "CPU"));
  return {"CPUs",
          what,
          std::string(waits),
          cpus,
          [](const ListedNode& node) -> std::uint64_t { return node.cpus > 0 ? node.cpus : not_listed; },
          [&job, nodes, ranks, by_node, each = cpus_of_rank(job) / threads](std::uint64_t most) {
            const std::uint64_t fit = most / each;
            if (by_node) return fmt::format("--cores-per-node {}", fit);
            return fit >= ranks ? fmt::format("--threads {}", fit / ranks) : fewer_ranks(job, fit, nodes);
          }};
}

NodeNeed need_of_gpus(const JobSpec& job) {
  return {"GPUs",
          fmt::format("{} a node {} requested", counted(job.gpus_per_node, "GPU"),
                      job.gpus_per_node == 1 ? "is" : "are"),
          std::string(waits),
          job.gpus_per_node,
          [](const ListedNode& node) -> std::uint64_t { return node.gpus.value_or(not_listed); },
          [](std::uint64_t most) {
            return most == 0 ? std::string("no --gpus")
                             : fmt::format("--gpus {}, and as many ranks a node", most);
          }};
}

// Slurm hides nodes of a cloud that are powered down (PrivateData=cloud): their number is no certain fault.
// pbsnodes lists all nodes, and the server keeps a job that needs more in its queue forever.
std::string unless_more_nodes(const JobSpec& job) {
  return job.scheduler == SchedulerKind::slurm ? "there are more nodes than sinfo lists" : "";
}

std::optional<RequestFault> fault_of_need(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                          const NodeNeed& need, std::string_view command) {
  std::uint64_t most = 0;
  std::size_t able = 0;
  for (const ListedNode& node : nodes) {
    const std::uint64_t has = need.of_node(node);
    if (has >= need.number) ++able;
    if (has != not_listed) most = std::max(most, has);
  }
  if (able >= std::min<std::size_t>(job.nodes(), nodes.size())) return std::nullopt;
  const std::string queue = job.queue.empty() ? "" : " of queue " + printable(job.queue, 60);
  const std::string where = fmt::format("{} of the nodes, by {}", need.name, command);
  if (able == 0)
    return RequestFault{
        {fmt::format("{}, and no node{} has more than {}: {}", need.what, queue, most, need.effect), where,
         need.hint(most) + "; or another --queue"}};
  return RequestFault{
      {fmt::format("{} on {}, and {} of {}{} {} so many: {}", need.what, counted(job.nodes(), "node"), able,
                   counted(nodes.size(), "node"), queue, able == 1 ? "has" : "have", need.effect),
       where, fmt::format("{}x{}; or another --queue", job.ranks_per_node(), able)},
      unless_more_nodes(job)};
}

std::optional<RequestFault> fault_of_count(const JobSpec& job, std::size_t nodes, std::string_view command) {
  if (job.nodes() <= nodes) return std::nullopt;
  const std::string queue = job.queue.empty() ? "" : " for queue " + printable(job.queue, 60);
  return RequestFault{{fmt::format("{} are requested, and there {} {}{}: {}", counted(job.nodes(), "node"),
                                   nodes == 1 ? "is" : "are", counted(nodes, "node"), queue, waits),
                       fmt::format("nodes, by {}", command),
                       fmt::format("at most {}; or another --queue", counted(nodes, "node"))},
                      unless_more_nodes(job)};
}

// Whether a line for the scheduler, the job's or the site's, has one of these options: "-M" is "-Mname" too.
bool gives(const JobRequest& wanted, std::initializer_list<std::string_view> options) {
  const auto has = [&](const std::string& directive) {
    return std::ranges::any_of(options, [&](std::string_view option) {
      const std::size_t end = option.size();
      return directive.starts_with(option) &&
             (end == 2 || directive.size() == end || directive[end] == '=' || directive[end] == ' ');
    });
  };
  return std::ranges::any_of(wanted.site.directives, has) ||
         std::ranges::any_of(wanted.parsed.job.directives, has);
}

// Whether the request has another form than the job's settings.
bool is_of_directives(const JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  if (!job.script_template.empty()) return true;  // what it requests is in its text
  if (job.scheduler == SchedulerKind::slurm) return gives(wanted, {"-O", "--overcommit"});
  return gives(wanted, {"-l"});
}

// The partition of the job is its queue, else the default; nothing where it is known by other words only: a
// reservation has a partition of its own.
bool knows_partition(const JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  return !job.queue.empty() ||
         (job.reservation.empty() && !gives(wanted, {"-p", "--partition", "--reservation"}));
}

// Whether the job runs on nodes that the scheduler here does not list for it: of another cluster or server,
// or of a queue that the job's settings do not name.
bool runs_elsewhere(const JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  if (job.scheduler == SchedulerKind::slurm) return gives(wanted, {"-M", "--clusters"});
  return gives(wanted, {"-q"}) || job.queue.find('@') != std::string::npos;
}

// Nothing where the scheduler does not answer.
std::optional<std::vector<PartitionLimits>> read_partitions(const CommandRunner& ask) {
  const ProcessResult answer = ask(partition_limits_command());
  if (!answer.ok()) return std::nullopt;
  return parse_partition_limits(answer.out);
}

std::string partition_of(const JobRequest& wanted, const std::vector<PartitionLimits>& partitions) {
  if (!wanted.parsed.job.queue.empty() || !knows_partition(wanted)) return wanted.parsed.job.queue;
  const auto usual = std::ranges::find_if(partitions, &PartitionLimits::is_default);
  return usual == partitions.end() ? "" : usual->name;
}

}  // namespace

std::optional<RequestFault> find_node_fault(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                            std::string_view command) {
  if (nodes.empty()) return std::nullopt;
  std::vector<NodeNeed> needs{need_of_cpus(job, nodes.size())};
  if (job.runner == Runner::ddlrun && !job.oversubscribes())
    needs.push_back(need_of_cores(job, nodes.size()));
  needs.push_back(need_of_gpus(job));
  auto first = fault_of_count(job, nodes.size(), command);
  for (const NodeNeed& need : needs) {
    auto fault = fault_of_need(job, nodes, need, command);
    if (fault && fault->unless.empty()) return fault;
    if (!first) first = std::move(fault);
  }
  return first;
}

std::optional<RequestFault> find_request_fault(const CommandRunner& ask, const JobRequest& wanted) {
  const JobSpec& job = wanted.parsed.job;
  const bool slurm = job.scheduler == SchedulerKind::slurm;
  if (runs_elsewhere(wanted)) return std::nullopt;
  std::string queue = job.queue;
  if (slurm && knows_partition(wanted)) {
    const auto partitions = read_partitions(ask);
    if (!partitions) return std::nullopt;
    if (auto fault = find_limit_fault(job, *partitions)) {
      if (!job.qos.empty())
        return RequestFault{*std::move(fault), fmt::format("QOS {} permits it", printable(job.qos, 60))};
      if (gives(wanted, {"-q", "--qos"}))
        return RequestFault{*std::move(fault), "the QOS of its directives permits it"};
      fault->hint += "; or --qos NAME, one that permits more";
      return RequestFault{*std::move(fault)};
    }
    queue = partition_of(wanted, *partitions);
  }
  if (is_of_directives(wanted)) return std::nullopt;
  const NodeListing listing = list_nodes(ask, job.scheduler, queue);
  return find_node_fault(job, slurm ? listing.nodes : possible_nodes(listing.nodes, queue), listing.command);
}

void complete_cores(const CommandRunner& ask, JobRequest& wanted) {
  if (!wanted.parsed.lacks_cores || runs_elsewhere(wanted)) return;
  const JobSpec& job = wanted.parsed.job;
  std::string queue = job.queue;
  if (job.scheduler == SchedulerKind::slurm && queue.empty() && knows_partition(wanted))
    queue = partition_of(wanted, read_partitions(ask).value_or(std::vector<PartitionLimits>()));
  const NodeCores found = find_node_cores(ask, job.scheduler, queue);
  if (found.cores) {
    wanted.settings["cores_per_node"] =
        flag_setting("cores_per_node", std::to_string(*found.cores), found.source);
    wanted.parsed = read_job(wanted.settings, found.nodes);
    wanted.parsed.remarks.push_back(fmt::format("cores_per_node: {}, as {}", *found.cores, found.source));
    return;
  }
  const std::string why = found.counts.empty() ? found.problem : "the nodes differ: " + found.counts;
  for (Message& error : wanted.parsed.errors) {
    if (!why.empty() && error.what.find("cores_per_node is") != std::string::npos) error.what += "; " + why;
  }
}

void complete_shared_cpus(const CommandRunner& ask, JobRequest& wanted) {
  JobSpec& job = wanted.parsed.job;
  const bool lacks = job.oversubscribes() && job.runner == Runner::ddlrun && job.cores_per_node == 0;
  if (!lacks || job.scheduler != SchedulerKind::slurm || !wanted.parsed.errors.empty() ||
      runs_elsewhere(wanted) || is_of_directives(wanted))
    return;
  const auto partitions = read_partitions(ask);
  if (!partitions) return;
  NodeListing listing = list_nodes(ask, job.scheduler, partition_of(wanted, *partitions));
  std::erase_if(listing.nodes, [&](const ListedNode& node) {
    const bool is_other = !job.hosts.empty() && std::ranges::find(job.hosts, node.name) == job.hosts.end();
    return node.cpus == 0 || is_other;
  });
  if (listing.nodes.empty()) return;
  std::ranges::sort(listing.nodes, std::ranges::greater(), &ListedNode::cpus);
  const std::size_t last = std::min<std::size_t>(job.nodes(), listing.nodes.size()) - 1;
  const std::uint32_t cpus = listing.nodes[last].cpus;
  const std::uint64_t ranks = job.ranks_per_node();
  if (ranks * (cpus_of_rank(job) / std::max(1u, job.threads)) <= cpus) return;
  job.shared_cpus = cpus;
  wanted.parsed.remarks.push_back(fmt::format("oversubscribe: {} share {} of a node, by {}",
                                              counted(ranks, "rank"), counted(cpus, "CPU"), listing.command));
}

}  // namespace ddlrun::schedulers
