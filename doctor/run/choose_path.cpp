// SPDX-License-Identifier: MIT
#include "doctor/run/choose_path.hpp"

#include "topology/sources/slurm_step.hpp"

#include <utility>

namespace ddlrun::doctor {

void choose_path(System& system, DoctorRequest& request) {
  topology::StepHosts steps = topology::find_step_hosts(system, request.hosts);
  request.paths = {steps.reached.empty() ? Via::ssh : Via::srun};
  request.step_failures = std::move(steps.failures);
}

}  // namespace ddlrun::doctor
