// SPDX-License-Identifier: MIT
#include "schedulers/slurm/partition_limits.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"
#include "schedulers/slurm/slurm_answers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t most_number = 1u << 20;

// "30:00" (minutes first), "1:00:00", "2-00:00:00"; nothing for "infinite" and other words.
std::optional<std::uint64_t> parse_limit(std::string_view text) {
  return text.find(':') == std::string_view::npos ? std::nullopt : parse_elapsed(text);
}

std::string hours_or_minutes(std::uint64_t seconds) {
  return seconds % 3600 == 0 ? fmt::format("{}h", seconds / 3600) : fmt::format("{}m", seconds / 60);
}

bool is_of_job(const PartitionLimits& partition, const JobSpec& job) {
  if (job.queue.empty()) return partition.is_default;
  const auto names = split(job.queue, ',');
  return std::ranges::find(names, std::string_view(partition.name)) != names.end();
}

std::optional<Message> fault_in(const JobSpec& job, const PartitionLimits& partition) {
  const std::string name = "partition " + printable(partition.name, 60);
  const std::string queue = "or another --queue: sinfo -o '%P %l %s %D'";
  if (partition.seconds && job.walltime_seconds > *partition.seconds) {
    return Message{fmt::format("the walltime is above the limit of {}, {}: the job would wait forever", name,
                               partition.time),
                   "walltime", fmt::format("--walltime {}, {}", hours_or_minutes(*partition.seconds), queue)};
  }
  if (const auto most = partition.most_nodes; most && job.nodes() > *most) {
    return Message{
        fmt::format("{} nodes are requested, and a job in {} can have {}: the job would wait forever",
                    job.nodes(), name, *most),
        "nodes", fmt::format("at most {}, {}", counted(*most, "node"), queue)};
  }
  return std::nullopt;
}

}  // namespace

Command partition_limits_command() { return {"sinfo", "-h", "-o", "%P %l %s"}; }

std::vector<PartitionLimits> parse_partition_limits(std::string_view out) {
  std::vector<PartitionLimits> all;
  for (const std::string_view line : split(out, '\n')) {
    const auto words = split_blanks(line);
    if (words.size() != 3) continue;
    PartitionLimits partition;
    partition.is_default = words[0].ends_with('*');
    partition.name = words[0].substr(0, words[0].size() - (partition.is_default ? 1 : 0));
    partition.seconds = parse_limit(words[1]);
    partition.time = words[1];
    partition.most_nodes = parse_unsigned(words[2].substr(words[2].find('-') + 1), most_number);
    all.push_back(std::move(partition));
  }
  return all;
}

std::optional<Message> find_limit_fault(const JobSpec& job, const std::vector<PartitionLimits>& all) {
  std::optional<Message> first;
  for (const PartitionLimits& partition : all) {
    if (!is_of_job(partition, job)) continue;
    auto fault = fault_in(job, partition);
    if (!fault) return std::nullopt;
    if (!first) first = std::move(fault);
  }
  return first;
}

}  // namespace ddlrun::schedulers
