// SPDX-License-Identifier: MIT
// OpenPBS 23.06 compares a request with the sum of all nodes only: more ncpus in one chunk than any node has
// is "Not Running: Insufficient amount of resource: ncpus ", as if it waited for a node to be free.
#include "base/text/text.hpp"
#include "schedulers/job/setting_reader.hpp"
#include "schedulers/pbs/pbs_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::schedulers {

namespace {

// "68", "100b", "24628800kb", "180gb": the number, in bytes where it has a unit.
std::optional<std::uint64_t> resource_amount(std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - (text.ends_with('b') ? 1 : 0));
  if (const auto amount = parse_unsigned(number, std::uint64_t{1} << 40)) return amount;
  return parse_memory(text);
}

// "2:ncpus=69:mpiprocs=1" of a select: what one chunk requests of each resource that is a number, as written.
std::vector<std::pair<std::string, std::string>> amounts_of(std::string_view select) {
  std::vector<std::pair<std::string, std::string>> amounts;
  for (const std::string_view chunk : split(select, '+')) {
    for (const std::string_view part : split(chunk, ':')) {
      const std::size_t equals = part.find('=');
      const std::string_view name = part.substr(0, equals);
      if (equals == part.npos || name == "mpiprocs" || name == "ompthreads") continue;  // of no node
      if (resource_amount(part.substr(equals + 1))) amounts.emplace_back(name, part.substr(equals + 1));
    }
  }
  return amounts;
}

// A chunk may take vnodes of one host together. Of a queue to which nodes are tied, only those count.
std::uint64_t most_on_a_host(const std::vector<PbsJob>& vnodes, const std::string& resource,
                             const std::string& queue) {
  const bool tied =
      std::ranges::any_of(vnodes, [&](const PbsJob& node) { return node.get("queue") == queue; });
  std::map<std::string, std::uint64_t> sums;
  std::uint64_t most = 0;
  for (const PbsJob& node : vnodes) {
    if (node.get("queue") != (tied ? queue : "")) continue;
    std::uint64_t& sum = sums[node.get("resources_available.host")];
    sum += resource_amount(node.get("resources_available." + resource)).value_or(0);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

bool waits_for_nodes(const JobStatus& status) {
  return status.word == "Q" && status.reason.starts_with("Not Running: ");
}

void check_chunks_fit(JobStatus& status, const PbsJob& job, const std::vector<PbsJob>& vnodes) {
  if (vnodes.empty()) return;
  for (const auto& [resource, asked] : amounts_of(job.get("Resource_List.select"))) {
    const std::uint64_t most = most_on_a_host(vnodes, resource, status.queue);
    if (*resource_amount(asked) <= most) continue;
    const bool is_size = asked.find_first_not_of("0123456789") != std::string::npos;
    status.never = true;
    status.explained = fmt::format(
        "it can never run: a chunk requests {} {}, no host of its queue has more than {}", asked,
        printable(resource, 40), is_size ? fmt::format("{}mb", most >> 20) : std::to_string(most));
    status.remedy = kLessOfIt;
    return;
  }
}

}  // namespace ddlrun::schedulers
