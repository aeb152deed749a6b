// SPDX-License-Identifier: MIT
#include "launch/ssh/rank_spawn.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

RankStart plan_rank_start(const SshHostSpec& host, const RankView& rank, const std::string& ddlrun,
                          const GpuReader& read_gpu) {
  RankStart start;
  const RankIdentity identity{rank.rank, rank.local_rank, RankLauncher::ddlrun};
  start.setup = plan_rank_setup(host.rank_map, rank, identity, host.program.program, read_gpu);
  RankProgram program = host.program;
  program.ddlrun = ddlrun;
  program.program = start.setup.program;
  start.command = plan_rank_command(program);
  start.variables = host.values;
  for (const auto& [name, value] : start.setup.variables) start.variables[name] = value;
  start.place = fmt::format("rank {} on {}", rank.rank, rank.host);
  return start;
}

}  // namespace ddlrun::launch
