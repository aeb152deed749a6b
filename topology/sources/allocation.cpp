// SPDX-License-Identifier: MIT
#include "topology/sources/allocation.hpp"

#include "base/text/host_list.hpp"

namespace ddlrun::topology {

std::optional<Allocation> find_allocation(System& system) {
  const std::string slurm = system.environment.get("SLURM_JOB_NODELIST");
  if (!slurm.empty()) return Allocation{expand_host_list(slurm), "SLURM_JOB_NODELIST", ""};
  const std::string pbs = system.environment.get("PBS_NODEFILE");
  if (pbs.empty()) return std::nullopt;
  return Allocation{parse_hostfile(system.files.read(pbs, max_hostfile_bytes), pbs), "PBS_NODEFILE", pbs};
}

}  // namespace ddlrun::topology
