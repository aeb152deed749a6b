// SPDX-License-Identifier: MIT
// The options that decide a plan, shared by gen-rankfile and launch.
#pragma once

#include "topology/plan.hpp"

#include <string>

namespace ddlrun::topology {

// As typed.
struct PlanTexts {
  std::string order;  // "": ddl, or what the program's framework assumes
  std::string by = "auto";
  std::string cores_per_rank;
  bool oversubscribe = false;
};

// Error{usage} with "did you mean".
PlanOptions parse_plan_options(const PlanTexts& texts);

}  // namespace ddlrun::topology
