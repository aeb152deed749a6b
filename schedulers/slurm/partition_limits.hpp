// SPDX-License-Identifier: MIT
// The limits of Slurm's partitions, as sinfo lists them, and whether a job fits into one. Pure.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/job_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct PartitionLimits {
  std::string name;
  bool is_default = false;
  std::optional<std::uint64_t> seconds;     // nothing: no limit
  std::string time;                         // as sinfo prints it: "2-00:00:00"
  std::optional<std::uint64_t> most_nodes;  // of one job; nothing: no limit
};

// The question whose answer parse_partition_limits() reads.
Command partition_limits_command();
// Lines of another form are omitted.
std::vector<PartitionLimits> parse_partition_limits(std::string_view out);

// Why the job can run in none of its partitions ("a,b" are two); nothing where it can in one, or none is
// known. Without a queue that is the default partition.
std::optional<Message> find_limit_fault(const JobSpec& job, const std::vector<PartitionLimits>& all);

}  // namespace ddlrun::schedulers
