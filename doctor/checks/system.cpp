// SPDX-License-Identifier: MIT
#include "doctor/checks/system.hpp"

#include "base/text/text.hpp"
#include "doctor/checks/core_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

std::string render_limit(std::string_view text, bool is_bytes) {
  const auto number = parse_unsigned(text);
  return number && is_bytes ? render_bytes(*number) : std::string(text);
}

RanksHere ranks_here(const Job& job, const std::string& host) {
  RanksHere here;
  const auto found = job.ranks_of_host.find(host);
  if (found != job.ranks_of_host.end() && found->second > 0) {
    here.ranks = found->second;
    here.reported = true;
  }
  if (job.cores_per_rank > 0) here.cores_per_rank = job.cores_per_rank;
  return here;
}

std::uint64_t room_for_threads(const Job& job, std::uint64_t ranks, std::uint64_t cores) {
  return job.shares_cores ? std::max(ranks, cores) : cores;
}

std::string sharing_hint(const HostReport& host, std::uint64_t ranks) {
  const auto map = host.facts.text("cores.map");
  const auto machine = map ? parse_cores(std::string(*map), "") : std::nullopt;
  const bool is_known = machine && !machine->cores.empty();
  return is_known && ranks > machine->cores.size() ? "; or --oversubscribe, to try it on shared cores" : "";
}

CheckResult skip_missing(const Facts& facts, std::string_view name) {
  std::string why = facts.why_missing(name);
  if (why.empty())
    why = fmt::format("{} is not a number: '{}'", name, printable(facts.text(name).value_or(""), 40));
  return skip(std::move(why));
}

std::vector<Finding> evaluate_hosts(const CheckInput& input, std::string_view id, HostEvaluator evaluate,
                                    std::string_view gatherer) {
  return evaluate_each(
      input, id, [&](const HostReport& host) { return evaluate(input, host); }, gatherer);
}

std::span<const Check> system_checks() {
  static const std::vector<Check> table = [] {
    std::vector<Check> all;
    for (const auto part : {limit_checks(), kernel_checks(), cpu_checks(), data_checks(), disk_checks(),
                            time_checks(), security_checks(), path_checks()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace ddlrun::doctor
