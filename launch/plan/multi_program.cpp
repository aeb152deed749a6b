// SPDX-License-Identifier: MIT
#include "launch/plan/multi_program.hpp"

#include "base/text/error.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/plan/program_list.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::uint64_t most_list_bytes = 1u << 20;

// Of this machine's ranks, as for a single program; with a PATH of its own only the rank can find it.
void check_list_programs(System& system, const std::string& file, const RankMap& rank_map) {
  const auto sets_path = [](const RankVariable& variable) { return variable.name == "PATH"; };
  for (const RankMapHost& host : rank_map.hosts) {
    if (!topology::is_this_host(system.environment, host.name)) continue;
    for (const std::uint32_t rank : host.ranks) {
      const RankGroup& group = *find_rank(rank_map, rank)->group;
      const bool has_slash = group.program[0].find('/') != std::string::npos;
      if (!has_slash && std::any_of(group.variables.begin(), group.variables.end(), sets_path)) continue;
      check_program(system, group.program[0], fmt::format("{}, rank {}", file, rank));
    }
  }
}

}  // namespace

void assign_programs(System& system, const LaunchSpec& spec, RankMap& rank_map) {
  if (spec.program_list.empty()) return;
  if (!spec.program.empty()) {
    throw Error(ErrorKind::usage,
                {"--multi-prog and a program after -- conflict", "--multi-prog and --", "one of the two"});
  }
  if (spec.framework.framework != frameworks::Framework::none) {
    throw Error(ErrorKind::usage,
                {"--framework cannot be used with --multi-prog", "--framework and --multi-prog",
                 "variables of a list's ranks are its `set: {NAME: value}`"});
  }
  const auto is_here = [&](const std::string& host) {
    return topology::is_this_host(system.environment, host);
  };
  rank_map.groups = parse_program_list(system.files.read(spec.program_list, most_list_bytes),
                                       spec.program_list, rank_map, is_here);
  check_list_programs(system, spec.program_list, rank_map);
}

}  // namespace ddlrun::launch
