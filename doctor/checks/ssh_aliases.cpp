// SPDX-License-Identifier: MIT
#include "doctor/checks/ssh_aliases.hpp"

#include "base/text/text.hpp"
#include "doctor/parse/names.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {

std::set<std::string> find_ssh_aliases(const CheckInput& input) {
  std::set<std::string> aliases, resolved;
  for (const HostReport& host : input.hosts)
    for (const auto& [name, row] : read_name_table(host.facts))
      if (!row.addresses.empty()) resolved.insert(name);
  const NameTable table = read_name_table(input.driver_host.facts);
  for (const HostReport& host : input.hosts) {
    const auto row = table.find(host.host);
    const bool is_unknown = row != table.end() && row->second.addresses.empty();
    const Reach& reach = host.reach;
    if (is_unknown && !resolved.contains(host.host) && reach.via == Via::ssh && reach.problem.empty() &&
        reach.relay.empty())
      aliases.insert(host.host);
  }
  return aliases;
}

CheckResult warn_of_aliases(const std::vector<std::string>& aliases, std::size_t asked) {
  Remedy remedy;
  remedy.note = fmt::format(
      "name the hosts as `ssh -G {} | grep '^hostname '` shows, or add the names to DNS or to /etc/hosts of "
      "all hosts",
      quote_shell(aliases.front()));
  return {
      Verdict::warn,
      fmt::format("{} of {} names are known to the ssh of the driver host only: {}", aliases.size(), asked,
                  some_of(aliases)),
      "names that each host can resolve",
      "a program that connects by host name, and mpirun on many hosts, whose daemons start each other, fail",
      std::move(remedy)};
}

}  // namespace ddlrun::doctor
