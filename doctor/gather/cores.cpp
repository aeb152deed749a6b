// SPDX-License-Identifier: MIT
// The cores of this host from /sys, cheap enough for every run; the same order as hwloc's logical numbers.
//   cores.map     one line a package, "PACKAGE_OS_NUMBER: PUS;PUS;...": each core with its usable hardware
//                 threads as ranges, "0: 0,64;1,65". Longer than other facts on large machines: at most 64
//                 KiB
//   cores.numa    one line a NUMA node with processors, "NUMBER: PUS"
//   cores.source  "/sys", or "hwloc: HWLOC_XMLFILE" where the environment gives Open MPI another topology
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"
#include "topology/hwloc_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr int most_cpus = 1 << 16;
constexpr std::size_t most_map_bytes = 64u << 10;

using Cpus = std::vector<int>;

// A list of processors from /sys; the newer name of the file first.
Cpus read_cpus(const GatherContext& context, const std::string& dir,
               std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto text = read_small(context, dir + name);
    if (!text) continue;
    return parse_ranges(trim(*text), most_cpus).value_or(Cpus{});
  }
  return {};
}

Cpus both(const Cpus& cpus, const std::set<int>& usable) {
  Cpus kept;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(kept),
               [&](int cpu) { return usable.count(cpu) > 0; });
  return kept;
}

struct CoreMap {
  std::map<std::string, std::vector<Cpus>> packages;  // by the package's own number
  std::vector<std::string> order;                     // as their first processors come
};

CoreMap read_cores(const GatherContext& context, const Cpus& usable_list) {
  const std::set<int> usable(usable_list.begin(), usable_list.end());
  CoreMap map;
  std::set<int> seen;
  std::map<int, std::string> package_of;
  for (const int cpu : usable_list) {
    if (seen.count(cpu) > 0) continue;
    const std::string dir = fmt::format("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    Cpus core = both(read_cpus(context, dir, {"core_cpus_list", "thread_siblings_list"}), usable);
    if (core.empty()) core = {cpu};
    seen.insert(core.begin(), core.end());
    if (package_of.count(cpu) == 0) {
      const std::string number(trim(read_small(context, dir + "physical_package_id").value_or("0")));
      package_of[cpu] = number;
      for (const int other : read_cpus(context, dir, {"package_cpus_list", "core_siblings_list"}))
        package_of[other] = number;
      if (map.packages.count(number) == 0) map.order.push_back(number);
    }
    map.packages[package_of[cpu]].push_back(std::move(core));
  }
  return map;
}

std::vector<std::string> render_cores(const CoreMap& map) {
  std::vector<std::string> lines;
  for (const std::string& number : map.order) {
    std::vector<std::string> cores;
    for (const Cpus& core : map.packages.at(number)) cores.push_back(render_ranges(core));
    lines.push_back(fmt::format("{}: {}", printable(number, 12), join(cores, ";")));
  }
  return lines;
}

std::vector<std::string> read_numa(const GatherContext& context, const Cpus& usable_list) {
  const std::set<int> usable(usable_list.begin(), usable_list.end());
  const std::string dir = "/sys/devices/system/node";
  std::map<std::uint64_t, std::string> nodes;
  for (const std::string& name : context.kernel.list_directory(context.root + dir)) {
    const auto number =
        name.starts_with("node") ? parse_unsigned(std::string_view(name).substr(4)) : std::nullopt;
    if (!number) continue;
    const Cpus cpus = both(read_cpus(context, dir + "/" + name + "/", {"cpulist"}), usable);
    if (!cpus.empty()) nodes[*number] = fmt::format("{}: {}", *number, render_ranges(cpus));
  }
  std::vector<std::string> lines;
  for (const auto& [number, line] : nodes) lines.push_back(line);
  return lines;
}

// Open MPI's daemons follow these variables too.
bool hwloc_is_overridden(const GatherContext& context) {
  return !context.system.environment.get("HWLOC_XMLFILE").empty() ||
         !context.system.environment.get("HWLOC_SYNTHETIC").empty();
}

void read_by_hwloc(Facts& facts) {
  const topology::MachineTopology machine = topology::HwlocMachine::this_host().machine("");
  std::map<int, std::vector<std::string>> packages;
  for (const topology::Core& core : machine.cores) {
    Cpus pus;
    for (const topology::PuIndex& pu : core.pus) pus.push_back(pu.os);
    packages[core.package].push_back(render_ranges(pus));
  }
  std::vector<std::string> lines;
  for (const auto& [package, cores] : packages)
    lines.push_back(fmt::format("{}: {}", package, join(cores, ";")));
  facts.set_list("cores.map", lines);
  facts.set("cores.source", "hwloc: HWLOC_XMLFILE or HWLOC_SYNTHETIC is set");
}

}  // namespace

void gather_cores(const GatherContext& context, Facts& facts) {
  if (hwloc_is_overridden(context)) {
    try {
      return read_by_hwloc(facts);
    } catch (const Error& error) {
      return facts.set_unknown("cores.map", printable(error.message().what));
    }
  }
  const Cpus usable = context.kernel.usable_cpus();
  const std::string text = join(render_cores(read_cores(context, usable)), "\n");
  if (text.empty() || text.size() > most_map_bytes) {
    facts.set_unknown("cores.map", text.empty() ? "no processor could be read" : "more than 64 KiB of cores");
    return;
  }
  facts.set("cores.map", text);
  facts.set_list("cores.numa", read_numa(context, usable));
  facts.set("cores.source", "/sys");
}

}  // namespace ddlrun::doctor
