// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/rankfile/rankfile_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

constexpr std::size_t digits_column = 12;  // blanks before slot= fill up to here after the rank's digits

// Open MPI cuts names at the first dot: two hosts must not become one.
void check_folding(const std::vector<std::string>& hosts) {
  std::unordered_map<std::string_view, const std::string*> seen;
  seen.reserve(hosts.size());
  for (const std::string& host : hosts) {
    const auto [at, is_new] = seen.emplace(folded_name(host), &host);
    if (is_new) continue;
    throw Error(
        ErrorKind::request,
        {fmt::format("hosts '{}' and '{}' are both '{}' to Open MPI, which cuts names at the first dot",
                     *at->second, host, at->first),
         "the host list", "names that differ before the first dot, or IPv4 addresses"});
  }
}

std::size_t longest_slot(const MachinePlan& machine) {
  std::size_t longest = 0;
  for (const LocalPlacement& place : machine.ranks) longest = std::max(longest, place.slot.size());
  return longest;
}

std::string fit_name(const std::string& host, std::size_t slot_length) {
  const std::size_t room = max_rankfile_entry - 6;
  if (host.size() + slot_length <= room) return host;
  std::string brief(folded_name(host));
  if (brief.size() + slot_length <= room) return brief;
  throw Error(
      ErrorKind::request,
      {fmt::format("host name of {} bytes + 6 + slots of {} bytes = {}, Open MPI's line buffer takes {}",
                   brief.size(), slot_length, brief.size() + 6 + slot_length, max_rankfile_entry),
       fmt::format("host {}", host), "a shorter alias for that host, or --cores-per-rank for one range"});
}

// "#sockets = 2", or the different values of different machines joined by '|'.
template <typename Describe>
std::string describe_machines(const Plan& plan, const Describe& describe) {
  std::vector<std::string> values;
  for (const MachinePlan& machine : plan.machines) {
    std::string value = describe(machine.machine);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
  }
  return join(values, "|");
}

std::string package_count(const MachineTopology& machine) {
  return std::to_string(std::max<std::size_t>(1, machine.packages_with_cores().size()));
}

std::string cores_per_package(const MachineTopology& machine) {
  if (machine.packages_are_equal()) return std::to_string(machine.packages[0].core_count);
  std::vector<std::string> counts;
  for (const Package* package : machine.packages_with_cores()) {
    counts.push_back(std::to_string(package->core_count));
  }
  return counts.empty() ? std::to_string(machine.cores.size()) : join(counts, ",");
}

std::string render_header(const Plan& plan, const RankfileHeader& header) {
  std::string text = header.stamp.empty() ? fmt::format("#by ddlrun {} gen-rankfile\n", header.version)
                                          : fmt::format("#{} by ddlrun {}\n", header.stamp, header.version);
  text += fmt::format("#dims = {}\n#host = {}\n", render_dims(plan.dims), join(plan.hosts, ","));
  text += fmt::format("#dimX = {}\n#dimY = {}\n#dimZ = {}\n", plan.dims.gpus_per_node,
                      plan.dims.nodes_per_rack, plan.dims.racks);
  if (plan.dims.aisles > 1) text += fmt::format("#dimA = {}\n", plan.dims.aisles);
  text += fmt::format("#sockets = {}\n#cores = {}\n", describe_machines(plan, package_count),
                      describe_machines(plan, cores_per_package));
  for (const MachinePlan& machine : plan.machines) {
    if (machine.machine.assumed) text += fmt::format("#topology = {}\n", machine.machine.source);
  }
  return text + "\n";
}

void append_number(std::string& text, std::uint32_t value) {
  const fmt::format_int digits(value);
  text.append(digits.data(), digits.size());
}

std::size_t digit_count(std::uint32_t value) { return fmt::format_int(value).size(); }

}  // namespace

void check_rankfile_names(const std::vector<std::string>& hosts, int mpi_major) {
  for (const std::string& host : hosts) {
    const auto problem = check_host_name(host, mpi_major);
    if (problem && problem->severity == Severity::error) {
      throw Error(ErrorKind::request, {problem->what, "the host list", problem->hint});
    }
  }
  check_folding(hosts);
}

std::vector<std::string> rankfile_names(const Plan& plan, int mpi_major) {
  std::vector<std::size_t> slot_lengths;
  for (const MachinePlan& machine : plan.machines) slot_lengths.push_back(longest_slot(machine));
  check_rankfile_names(plan.hosts, mpi_major);
  std::vector<std::string> names;
  names.reserve(plan.hosts.size());
  for (std::size_t h = 0; h < plan.hosts.size(); ++h) {
    names.push_back(fit_name(plan.hosts[h], slot_lengths[plan.machine_of_host[h]]));
  }
  return names;
}

std::string render_rankfile(const Plan& plan, const RankfileHeader& header, int mpi_major) {
  const auto names = rankfile_names(plan, mpi_major);
  std::string text = render_header(plan, header);
  std::size_t bytes = text.size();
  for (std::uint32_t h = 0; h < names.size(); ++h) {
    for (const LocalPlacement& place : plan.machine(h).ranks)
      bytes += names[h].size() + place.slot.size() + 24;
    bytes += 2;
  }
  text.reserve(bytes);
  const std::string blanks(digits_column, ' ');
  for (std::uint32_t h = 0; h < names.size(); ++h) {
    const MachinePlan& machine = plan.machine(h);
    Coordinates at = plan.dims.coordinates(h, 0);
    for (at.x = 0; at.x < machine.ranks.size(); ++at.x) {
      const std::uint32_t rank = plan.dims.rank_of(at, plan.order);
      text += "rank ";
      append_number(text, rank);
      text += '=';
      text += names[h];
      text.append(blanks, 0, digits_column - digit_count(rank));
      text += "slot=";
      text += machine.ranks[at.x].slot;
      text += '\n';
    }
    text += '\n';
    if ((h + 1) % plan.dims.nodes_per_rack == 0) text += '\n';
  }
  return text;
}

}  // namespace ddlrun::rankfile
