// SPDX-License-Identifier: MIT
// A plan for people: who sits where, and why.
#pragma once

#include "topology/plan.hpp"

#include <string>

namespace ddlrun::topology {

// One line a rank (each kind of machine once where there are many hosts): cores, PUs, GPU, NIC, reason.
std::string render_explanation(const Plan& plan);

}  // namespace ddlrun::topology
