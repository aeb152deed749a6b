// SPDX-License-Identifier: MIT
#include "launch/ssh/rank_spawn.hpp"

#include "launch/ssh/host_command.hpp"

#include <fmt/format.h>

namespace ddlrun::cli {

RankStart plan_rank_start(const launch::SshHostSpec& host, const launch::RankView& rank,
                          const std::string& ddlrun, const launch::GpuReader& read_gpu) {
  RankStart start;
  const launch::RankIdentity identity{rank.rank, rank.local_rank, launch::RankLauncher::ddlrun};
  start.setup = launch::plan_rank_setup(host.rank_map, rank, identity, host.program.program, read_gpu);
  launch::RankProgram program = host.program;
  program.ddlrun = ddlrun;
  program.program = start.setup.program;
  start.command = launch::plan_rank_command(program);
  start.variables = host.values;
  for (const auto& [name, value] : start.setup.variables) start.variables[name] = value;
  for (const auto& [name, value] : launch::rank_identity_variables(rank)) start.variables[name] = value;
  start.place = fmt::format("rank {} on {}", rank.rank, rank.host);
  return start;
}

}  // namespace ddlrun::cli
