// SPDX-License-Identifier: MIT
// One process of the host as /proc/PID/stat shows it, and the chain of our parents.
#pragma once

#include "base/process/process_stat.hpp"
#include "doctor/model/gather.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ddlrun::doctor {

std::optional<ProcessStat> read_process_stat(const GatherContext& context, std::uint64_t pid);

// Our parent first, then its parent, up to process 1 or 64 steps.
std::vector<ProcessStat> read_ancestors(const GatherContext& context);

}  // namespace ddlrun::doctor
