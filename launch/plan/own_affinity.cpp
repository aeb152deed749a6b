// SPDX-License-Identifier: MIT
#include "launch/plan/own_affinity.hpp"

#include "base/os/host_info.hpp"
#include "base/text/text.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::launch {

std::string remark_on_own_affinity(System& system, const std::vector<PlannedRank>& ranks) {
  if (system.kernel == nullptr) return {};
  const std::vector<int> usable = system.kernel->usable_cpus();
  std::set<int> planned;
  for (const PlannedRank& rank : ranks)
    if (topology::is_this_host(system.environment, rank.host))
      planned.insert(rank.pus.begin(), rank.pus.end());
  const auto is_usable = [&](int pu) { return std::ranges::binary_search(usable, pu); };
  if (usable.empty() || std::ranges::all_of(planned, is_usable)) return {};
  return fmt::format(
      "this shell may use PUs {} only (taskset), and the plan uses PUs {}: ranks are bound by the plan, not "
      "by the shell's mask; --rankfile FILE binds them elsewhere, --bind-to none nowhere",
      render_ranges(usable), render_ranges(std::vector<int>(planned.begin(), planned.end())));
}

}  // namespace ddlrun::launch
