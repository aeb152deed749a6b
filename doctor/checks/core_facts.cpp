// SPDX-License-Identifier: MIT
#include "doctor/checks/core_facts.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ddlrun::doctor {

namespace {

using topology::Core;
using topology::MachineTopology;

constexpr int most_cpus_in_facts = 1 << 16;

struct NumberedList {
  int number = 0;
  std::string_view rest;
};

// "8: 0-3;4-7"
std::optional<NumberedList> parse_line(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_unsigned(line.substr(0, colon), 1 << 20);
  if (!number) return std::nullopt;
  return NumberedList{static_cast<int>(*number), line.substr(colon + 2)};
}

bool add_package(MachineTopology& machine, std::string_view line, std::set<int>& seen) {
  const auto parsed = parse_line(line);
  if (!parsed) return false;
  const int logical = static_cast<int>(machine.packages.size());
  topology::Package package{logical, parsed->number, "", 0};
  for (const std::string_view text : split(parsed->rest, ';')) {
    const auto pus = parse_ranges(text, most_cpus_in_facts);
    if (!pus || pus->empty()) return false;
    Core core;
    core.package = logical;
    for (const int pu : *pus) {
      if (!seen.insert(pu).second) return false;
      core.pus.push_back({pu});
    }
    machine.cores.push_back(std::move(core));
    ++package.core_count;
  }
  machine.packages.push_back(std::move(package));
  return true;
}

bool add_numa(MachineTopology& machine, std::string_view text) {
  if (text.empty()) return true;
  std::map<int, int> node_of_pu;
  for (const std::string_view line : split(text, '\n')) {
    const auto parsed = parse_line(line);
    const auto pus = parsed ? parse_ranges(parsed->rest, most_cpus_in_facts) : std::nullopt;
    if (!pus) return false;
    const int logical = static_cast<int>(machine.numa_nodes.size());
    machine.numa_nodes.push_back({logical, parsed->number, 0, false, {}});
    for (const int pu : *pus) node_of_pu[pu] = logical;
  }
  for (Core& core : machine.cores) {
    const auto node = node_of_pu.find(core.pus.front().os);
    if (node != node_of_pu.end()) core.numa_node = node->second;
  }
  return true;
}

// hwloc counts cores package by package, in it NUMA node by NUMA node, each by its first processor.
void number_cores(MachineTopology& machine) {
  std::map<int, int> first_pu_of_node;
  for (const Core& core : machine.cores) {
    const auto [at, is_new] = first_pu_of_node.emplace(core.numa_node, core.pus.front().os);
    if (!is_new) at->second = std::min(at->second, core.pus.front().os);
  }
  std::stable_sort(machine.cores.begin(), machine.cores.end(), [&](const Core& a, const Core& b) {
    return std::tuple(a.package, first_pu_of_node[a.numa_node], a.pus.front().os) <
           std::tuple(b.package, first_pu_of_node[b.numa_node], b.pus.front().os);
  });
  std::map<int, int> in_package;
  for (std::size_t i = 0; i < machine.cores.size(); ++i) {
    Core& core = machine.cores[i];
    core.index = {static_cast<int>(i)};
    core.index_in_package = in_package[core.package]++;
    if (core.numa_node >= 0)
      machine.numa_nodes[static_cast<std::size_t>(core.numa_node)].cores.push_back(core.index);
  }
}

}  // namespace

std::optional<MachineTopology> parse_cores(std::string_view map, std::string_view numa) {
  MachineTopology machine;
  machine.source = "facts";
  std::set<int> seen;
  for (const std::string_view line : split(map, '\n')) {
    if (!add_package(machine, line, seen)) return std::nullopt;
  }
  if (!add_numa(machine, numa)) return std::nullopt;
  number_cores(machine);
  return machine;
}

std::optional<MachineTopology> machine_of(const Facts& facts) {
  const auto map = facts.text("cores.map");
  return map ? parse_cores(*map, facts.text("cores.numa").value_or("")) : std::nullopt;
}

std::string render_shape(const MachineTopology& machine) {
  std::set<int> cores, threads;
  for (const topology::Package& package : machine.packages) cores.insert(package.core_count);
  for (const Core& core : machine.cores) threads.insert(static_cast<int>(core.pus.size()));
  const auto list = [](const std::set<int>& numbers) {
    std::string text;
    for (const int number : numbers) text += fmt::format("{}{}", text.empty() ? "" : " or ", number);
    return text;
  };
  const auto count = [](std::size_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  std::string text = fmt::format("{} x {} cores x {} threads", count(machine.packages.size(), "package"),
                                 list(cores), list(threads));
  if (!machine.numa_nodes.empty()) text += ", " + count(machine.numa_nodes.size(), "NUMA node");
  return text;
}

}  // namespace ddlrun::doctor
