// SPDX-License-Identifier: MIT
// What a script asks of its scheduler and no key of ddlrun.yaml expresses.
#pragma once

#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"

#include <vector>

namespace ddlrun::job_scripts {

// Whether `requeue: yes` requests the script's requeue; it cannot for an array of PBS.
bool can_carry_requeue(const JobScript& script, const ResourceRequest& request);

std::vector<Unsupported> find_losses(const JobScript& script, const ResourceRequest& request);

}  // namespace ddlrun::job_scripts
