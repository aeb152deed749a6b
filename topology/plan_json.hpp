// SPDX-License-Identifier: MIT
// The plan as one JSON document, "schema": "ddlrun.plan/1": every rank with host, cores, PUs, GPU and NIC.
#pragma once

#include "topology/plan.hpp"

#include <string>

namespace ddlrun::topology {

std::string render_plan_json(const Plan& plan);

}  // namespace ddlrun::topology
