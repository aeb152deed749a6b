// SPDX-License-Identifier: MIT
#include "launch/plan/mpirun_placement.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <span>
#include <string_view>

namespace ddlrun::launch {

namespace {

constexpr std::string_view map_hint =
    "--order packed for mpirun's slot; --order ddl for node; --map-by packages for socket";

[[noreturn]] void refuse_words(std::string what, std::string where, std::string hint) {
  throw Error(ErrorKind::usage, {std::move(what), std::move(where), std::move(hint)});
}

// "core:overload-allowed" -> "core"
std::string_view name_of_unit(std::string_view unit) { return unit.substr(0, unit.find(':')); }

std::string binding_hint(std::string_view unit) {
  unit = name_of_unit(unit);
  if (unit == "core" || unit == "none") return fmt::format("--bind-to {}", unit);
  if (unit == "hwthread") return "--bind-to core: one core, with all its hardware threads";
  return "leave it out: each rank gets its share of the cores of a package; or --bind-to core, or none";
}

// The value of a binding or mapping option among mpirun's own words: "--bind-to none", "--bind-to=none" or
// two words.
std::string value_of_argument(const std::vector<std::string>& words, std::size_t at,
                              std::size_t end_of_name) {
  if (end_of_name != std::string::npos) return words[at].substr(end_of_name + 1);
  return at + 1 < words.size() ? words[at + 1] : "";
}

// The typed options that the hint of a mapping stands for.
std::string replaced_options(const LaunchFlags& flags) {
  std::vector<std::string> typed{"--map-by"};
  if (!flags.framework.np.empty()) typed.emplace_back("-n");
  if (!flags.hosts_option.empty()) typed.emplace_back("-H");
  if (!flags.hostfile.empty()) typed.emplace_back("--hostfile");
  const std::string last = typed.back();
  typed.pop_back();
  return typed.empty() ? last : join(typed, ", ") + " and " + last;
}

// "2x2 h1,h2": so many ranks on each of the hosts.
std::string dims_of(std::uint64_t each, const std::vector<std::string>& hosts) {
  return fmt::format("{}x{} {}", each, hosts.size(), join(hosts, ","));
}

// "ppr:2:node:PE=4", mpirun's ranks of each host and cores of each rank; "" for another unit.
std::string hint_of_ranks_per_host(const LaunchFlags& flags, const std::vector<std::string>& hosts) {
  const std::vector<std::string_view> parts = split(flags.plan.by, ':');
  if (parts.size() < 3 || parts[0] != "ppr") return {};
  const auto ranks = parse_unsigned(parts[1], topology::max_ranks);
  if (!ranks || *ranks == 0 || parts[2] != "node") return {};  // of a socket: parse_plan_options()
  std::string hint = hosts.empty() ? fmt::format("--ranks-per-host {}", *ranks) : dims_of(*ranks, hosts);
  for (const std::string_view part : std::span(parts).subspan(3))
    if (part.starts_with("PE=") || part.starts_with("pe="))
      hint += fmt::format(" --cores-per-rank {}", printable(part.substr(3), 20));
  return fmt::format("{}   # without {}", hint, replaced_options(flags));
}

// -n ranks over several hosts, by slot or by node; "" where the general hint is true.
std::string hint_of_number(const LaunchFlags& flags, const std::vector<std::string>& hosts,
                           const std::vector<std::uint32_t>& slots) {
  const std::string_view unit = name_of_unit(flags.plan.by);
  const auto ranks = parse_unsigned(flags.framework.np, topology::max_ranks);
  if (!ranks || *ranks == 0 || hosts.size() < 2) return {};
  if (unit == "slot" || unit == "core")
    return slots.empty()
               ? "-H h1:N,h2:N --order packed   # so many ranks on each host; -n alone splits evenly"
               : "--order packed   # -n fills the slots of each host in turn, ranks are numbered so";
  if (unit != "node") return {};
  if (*ranks % hosts.size() == 0)
    return fmt::format("{} --order ddl   # without {}", dims_of(*ranks / hosts.size(), hosts),
                       replaced_options(flags));
  return "-H h1:2,h2:1: the ranks of each host; only equal numbers can be numbered round robin";
}

}  // namespace

Binding parse_binding(const std::string& unit) {
  if (unit.empty()) return Binding::share;
  if (unit == "core") return Binding::core;
  if (unit == "none") return Binding::none;
  refuse_words(fmt::format("'{}' is not one of core, none", printable(unit, 40)), "--bind-to",
               binding_hint(unit));
}

void refuse_mapping(const LaunchFlags& flags, const std::vector<std::string>& hosts,
                    const std::vector<std::uint32_t>& slots) {
  std::string hint = hint_of_ranks_per_host(flags, hosts);
  if (hint.empty()) hint = hint_of_number(flags, hosts, slots);
  if (hint.empty()) return;
  refuse_words(
      fmt::format("'{}' is a unit of mpirun's --map-by, not of ddlrun's", printable(flags.plan.by, 40)),
      "--map-by", std::move(hint));
}

void refuse_placement_arguments(const LaunchFlags& flags) {
  const std::vector<std::string>& words = flags.mpi_arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) continue;
    const std::size_t end = words[i].find_first_of("= ");
    const std::string name = words[i].substr(0, end).substr(words[i].starts_with("--") ? 2 : 1);
    const std::string what = fmt::format("launch places and binds the ranks itself, and does not pass {} on",
                                         printable(words[i], 60));
    if (name == "bind-to" || name == "cpu-bind")
      refuse_words(what, "--mpi-arg", binding_hint(value_of_argument(words, i, end)));
    if (name.starts_with("bind-to-")) refuse_words(what, "--mpi-arg", binding_hint(name.substr(8)));
    if (name == "map-by") refuse_words(what, "--mpi-arg", std::string(map_hint));
  }
  for (const auto& [name, value] : flags.mca) {
    const std::string what = "launch places and binds the ranks itself, and does not pass this parameter on";
    if (name == "hwloc_base_binding_policy") refuse_words(what, "--mca " + name, binding_hint(value));
    if (name == "rmaps_base_mapping_policy") refuse_words(what, "--mca " + name, std::string(map_hint));
  }
}

}  // namespace ddlrun::launch
