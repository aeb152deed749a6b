// SPDX-License-Identifier: MIT
#include "launch/monitor/slurm_down_hosts.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

std::vector<std::string> find_down_hosts(System& system, const std::vector<std::string>& hosts) {
  if (hosts.empty() || system.environment.get("SLURM_JOB_ID").empty()) return {};
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(15);
  const ProcessResult answer =
      system.processes.run({"sinfo", "-h", "-N", "-n", join(hosts, ","), "-o", "%N|%T"}, limits);
  if (!answer.ok()) return {};
  std::vector<std::string> down;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto parts = split(trim(line), '|');
    if (parts.size() != 2 || !is_host_name(parts[0])) continue;
    // "allocated*": the star is Slurm's for a host that does not answer.
    if (!parts[1].starts_with("down") && !parts[1].ends_with('*')) continue;
    const std::string entry = fmt::format("{} ({})", parts[0], printable(parts[1], 40));
    if (std::find(down.begin(), down.end(), entry) == down.end()) down.push_back(entry);  // once a partition
  }
  return down;
}

}  // namespace ddlrun::launch
