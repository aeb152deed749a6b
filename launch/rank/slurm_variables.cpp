// SPDX-License-Identifier: MIT
#include "launch/rank/slurm_variables.hpp"

#include <string>

namespace ddlrun::launch {

EnvVars correct_slurm_variables(const RankIdentity& identity, std::optional<std::uint32_t> node,
                                const EnvVars& environment) {
  const bool by_slurm = identity.launcher == RankLauncher::slurm || identity.launcher == RankLauncher::pmix;
  if (by_slurm || !environment.contains("SLURM_JOB_ID")) return {};
  EnvVars variables{{"SLURM_PROCID", std::to_string(identity.rank)}};
  if (identity.local_rank) variables["SLURM_LOCALID"] = std::to_string(*identity.local_rank);
  if (node) variables["SLURM_NODEID"] = std::to_string(*node);
  if (!identity.size) return variables;
  for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"})
    variables[name] = std::to_string(*identity.size);
  return variables;
}

}  // namespace ddlrun::launch
