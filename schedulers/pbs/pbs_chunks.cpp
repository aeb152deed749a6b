// SPDX-License-Identifier: MIT
// OpenPBS 23.06 compares a request with the sum of all nodes only: more ncpus in one chunk than any node has
// is "Not Running: Insufficient amount of resource: ncpus ", as if it waited for a node to be free. So are
// chunks whose resources are on different nodes, and more scattered chunks than there are nodes that can hold
// one.
#include "base/text/text.hpp"
#include "schedulers/job/node_list.hpp"
#include "schedulers/job/setting_reader.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::schedulers {

namespace {

// "68", "100b", "24628800kb", "180gb": the number, in bytes where it has a unit.
std::optional<std::uint64_t> resource_amount(std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - (text.ends_with('b') ? 1 : 0));
  if (const auto amount = parse_unsigned(number, std::uint64_t{1} << 40)) return amount;
  return parse_memory(text);
}

struct Amount {
  std::string resource, asked;  // "mem", "180gb"
  std::uint64_t number = 0;
};
// "2:ncpus=69:mpiprocs=1" of a select: how many, and what each requests of each resource that is a number.
struct Chunks {
  std::uint64_t count = 1;
  std::vector<Amount> amounts;
};

std::vector<Chunks> parse_select(std::string_view select) {
  std::vector<Chunks> all;
  for (const std::string_view written : split(select, '+')) {
    Chunks& chunks = all.emplace_back();
    for (const std::string_view part : split(written, ':')) {
      const std::size_t equals = part.find('=');
      const std::string_view name = part.substr(0, equals);
      if (equals == part.npos) chunks.count = parse_unsigned(part).value_or(chunks.count);
      if (equals == part.npos || name == "mpiprocs" || name == "ompthreads") continue;  // of no node
      const std::string_view asked = part.substr(equals + 1);
      if (const auto number = resource_amount(asked))
        chunks.amounts.push_back({std::string(name), std::string(asked), *number});
    }
  }
  return all;
}

using Resources = std::map<std::string, std::uint64_t>;

// What each host that serves the queue has of these resources. A chunk may take vnodes of one host together.
// The scheduler examines only jobs of queues that run them, so a job that waits for nodes is in no routing
// queue.
std::map<std::string, Resources> resources_of_hosts(const std::vector<PbsJob>& vnodes,
                                                    const std::vector<Amount>& amounts,
                                                    const std::string& queue) {
  const auto queue_of = [](const PbsJob& node) { return node.get("queue"); };
  const QueueNodes of_queue = find_queue_nodes(queue, vnodes, queue_of);
  std::map<std::string, Resources> hosts;
  for (const PbsJob& node : vnodes) {
    if (!of_queue.serves(queue_of(node))) continue;
    Resources& host = hosts[host_of(node)];
    for (const Amount& amount : amounts)
      host[amount.resource] +=
          resource_amount(node.get("resources_available." + amount.resource)).value_or(0);
  }
  return hosts;
}

std::string render_amounts(const std::vector<Amount>& amounts) {
  std::vector<std::string> words;
  for (const Amount& amount : amounts) words.push_back(amount.asked + " " + printable(amount.resource, 40));
  return join(words, ", ");
}

// As large as `amount` is written: "24105mb", "68".
std::string render_amount(const Amount& amount, std::uint64_t number) {
  const bool is_size = amount.asked.find_first_not_of("0123456789") != std::string::npos;
  return is_size ? fmt::format("{}mb", number >> 20) : std::to_string(number);
}

// Why these chunks never get their hosts; "" where they may.
std::string why_never(const Chunks& chunks, const std::map<std::string, Resources>& hosts,
                      bool one_on_a_host) {
  for (const Amount& amount : chunks.amounts) {
    std::uint64_t most = 0;
    for (const auto& [name, host] : hosts) most = std::max(most, host.at(amount.resource));
    if (amount.number <= most) continue;
    return fmt::format("a chunk requests {} {}, no host of its queue has more than {}", amount.asked,
                       printable(amount.resource, 40), render_amount(amount, most));
  }
  const auto fitting = static_cast<std::uint64_t>(std::ranges::count_if(hosts, [&](const auto& host) {
    return std::ranges::all_of(chunks.amounts, [&](const Amount& amount) {
      return amount.number <= host.second.at(amount.resource);
    });
  }));
  if (fitting == 0)
    return fmt::format("no host of its queue has all that a chunk requests: {}",
                       render_amounts(chunks.amounts));
  if (one_on_a_host && fitting < chunks.count)
    return fmt::format("{} chunks of {} on a host each, and {} of its queue can hold one", chunks.count,
                       render_amounts(chunks.amounts),
                       fitting == 1 ? "1 host" : fmt::format("{} hosts", fitting));
  return {};
}

// "10 ncpus in 5 chunks, the hosts of its queue have 6 in all"; "" where they have as much.
std::string why_too_much(const Chunks& chunks, const std::map<std::string, Resources>& hosts) {
  for (const Amount& amount : chunks.amounts) {
    std::uint64_t all = 0;
    for (const auto& [name, host] : hosts) all += host.at(amount.resource);
    if (amount.number <= all / chunks.count) continue;
    return fmt::format("{} of {} {}, the hosts of its queue have {} in all",
                       chunks.count == 1 ? "1 chunk" : fmt::format("{} chunks", chunks.count), amount.asked,
                       printable(amount.resource, 40), render_amount(amount, all));
  }
  return {};
}

}  // namespace

bool waits_for_nodes(const JobStatus& status) {
  return status.word == "Q" && (status.never || status.reason.starts_with("Not Running: "));
}

void check_chunks_fit(JobStatus& status, const PbsJob& job, const std::vector<PbsJob>& vnodes) {
  if (vnodes.empty()) return;
  const std::vector<Chunks> select = parse_select(job.get("Resource_List.select"));
  const bool scatter = job.get("Resource_List.place").find("scatter") != std::string::npos;
  for (const Chunks& chunks : select) {
    if (chunks.amounts.empty()) continue;
    const auto hosts = resources_of_hosts(vnodes, chunks.amounts, status.queue);
    std::string why = why_never(chunks, hosts, scatter);
    if (why.empty()) why = why_too_much(chunks, hosts);
    if (why.empty()) continue;
    status.never = true;
    status.explained = "it can never run: " + why;
    status.remedy = kLessOfIt;
    return;
  }
}

}  // namespace ddlrun::schedulers
