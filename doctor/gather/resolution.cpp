// SPDX-License-Identifier: MIT
// The names of this host, and the addresses to which it resolves the job's names.
//   name.host        gethostname()
//   name.boot_id     /proc/sys/kernel/random/boot_id
//   name.table       a line a name, "node2 10.1.1.2,fe80::2" or "node9 ! why": the host's own name, the one
//                    it is called by, the job's names, and each cut at its first dot as Open MPI cuts it. At
//                    most 512 of them, as each is needed to compare hosts
//   name.left_out    how many names were not asked: too many, or it took too long
//   name.known       names of /etc/hosts, at most 200 and 3 KiB: on the driver host, if a name has no
//                    address
//   name.slowest     the name whose lookup took longest
//   name.slowest_us  how long, microseconds
#include "base/text/known_hosts.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/parse/names.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include <algorithm>
#include <unordered_set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_resolved_names = 512;
constexpr std::size_t most_addresses_of_name = 8;
constexpr std::chrono::milliseconds budget{3000};

// Each once, those that matter most first.
std::vector<std::string> names_to_ask(const GatherContext& context) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && name.find_first_of(" \n") == std::string::npos && seen.insert(name).second)
      names.push_back(name);
  };
  const std::string& own = context.system.environment.host_name;
  for (const std::string& name : {own, context.request.host}) {
    add(name);
    add(std::string(rankfile::folded_name(name)));
  }
  for (const std::string& name : context.request.names) {
    add(name);
    if (!rankfile::is_relative_name(name)) add(std::string(rankfile::folded_name(name)));
  }
  return names;
}

NameRow ask(HostInfo& kernel, const std::string& name) {
  NameLookup found = kernel.find_addresses(name);
  if (found.addresses.size() > most_addresses_of_name) found.addresses.resize(most_addresses_of_name);
  if (found.addresses.empty() && found.problem.empty()) found.problem = "no address";
  return {name, std::move(found.addresses), std::move(found.problem)};
}

std::vector<std::string> names_of_table(const GatherContext& context) {
  constexpr std::size_t most = 200, most_bytes = 3072;
  auto names = parse_hosts_table(SysrootFiles(context).read("/etc/hosts", 1 << 20).value_or(""), most);
  std::size_t bytes = 0;
  const auto too_many = std::ranges::find_if(names, [&](const std::string& name) {
    bytes += name.size() + 1;
    return bytes > most_bytes;
  });
  names.erase(too_many, names.end());
  return names;
}

}  // namespace

void gather_names(const GatherContext& context, Facts& facts) {
  facts.set("name.host", context.system.environment.host_name);
  set_line(facts, "name.boot_id", SysrootFiles(context).line("/proc/sys/kernel/random/boot_id"));
  const std::vector<std::string> names = names_to_ask(context);
  const auto begun = context.system.clock.steady();
  auto before = begun;
  std::chrono::microseconds slowest{0};
  std::vector<std::string> table;
  for (const std::string& name : names) {
    if (table.size() == most_resolved_names || before - begun > budget) break;
    table.push_back(render_name_row(ask(context.kernel, name)));
    const auto now = context.system.clock.steady();
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(now - before);
    before = now;
    if (took <= slowest) continue;
    slowest = took;
    facts.set("name.slowest", name);
  }
  facts.set("name.slowest_us", static_cast<std::uint64_t>(slowest.count()));
  facts.set("name.left_out", names.size() - table.size());
  facts.set_list("name.table", table);
  const bool lacks = std::any_of(table.begin(), table.end(),
                                 [](const std::string& row) { return row.find(" ! ") != std::string::npos; });
  if (context.request.is_driver_host && lacks) facts.set_list("name.known", names_of_table(context));
}

}  // namespace ddlrun::doctor
