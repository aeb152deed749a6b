// SPDX-License-Identifier: MIT
// What the checks of the system subject share: their tables, units, and rules that more than one of them
// needs.
#pragma once

#include "doctor/model/check.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

std::span<const Check> limit_checks();     // LIM-01..03, 05..07, 15
std::span<const Check> kernel_checks();    // LIM-04, 08..14
std::span<const Check> cpu_checks();       // CPU-04, 05, 07..11
std::span<const Check> data_checks();      // DIR-01, DATA
std::span<const Check> disk_checks();      // DISK
std::span<const Check> time_checks();      // TIME
std::span<const Check> security_checks();  // SEC-02, 03
std::span<const Check> path_checks();      // PATH-01

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;

// The text of a limit: "unlimited", "64 KiB", or the number as it is.
std::string render_limit(std::string_view text, bool is_bytes);

// The ranks that the job places on this host. If the job does not state it, `reported` is false and
// `ranks` 1.
struct RanksHere {
  std::uint64_t ranks = 1;
  std::uint64_t cores_per_rank = 1;
  bool reported = false;
};
RanksHere ranks_here(const Job& job, const std::string& host);

// The threads that may compute at once: one a core, and one a rank where ranks share the cores.
std::uint64_t room_for_threads(const Job& job, std::uint64_t ranks, std::uint64_t cores);
// What a remedy adds where no request can help: the host itself has fewer cores than ranks; else "".
std::string sharing_hint(const HostReport& host, std::uint64_t ranks);

// Skip because a fact is not there, with the gatherer's reason; or because its value makes no sense.
CheckResult skip_missing(const Facts& facts, std::string_view name);

// One host evaluated by the facts of one path.
using HostEvaluator = CheckResult (*)(const CheckInput& input, const HostReport& host);
std::vector<Finding> evaluate_hosts(const CheckInput& input, std::string_view id, HostEvaluator evaluate,
                                    std::string_view gatherer);

CheckResult evaluate_memlock(const CheckInput& input, const HostReport& host);        // LIM-01
CheckResult evaluate_open_files(const CheckInput& input, const HostReport& host);     // LIM-03
CheckResult evaluate_shared_memory(const CheckInput& input, const HostReport& host);  // LIM-07
CheckResult evaluate_cores(const CheckInput& input, const HostReport& host);          // LIM-09

// What raises a limit for jobs that reach the host the way this one was reached: the files that count from
// the next start on, and the daemon's own limit at once. `wanted` is "unlimited" or a number in getrlimit's
// unit.
Remedy plan_limit_remedy(const HostReport& host, std::string_view name, const std::string& wanted);

}  // namespace ddlrun::doctor
