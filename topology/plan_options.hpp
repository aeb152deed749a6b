// SPDX-License-Identifier: MIT
// The options that decide a plan, shared by gen-rankfile and launch.
#pragma once

#include "topology/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::topology {

// As typed.
struct PlanTexts {
  std::string order;  // "": ddl, or what the program's framework assumes
  std::string by = "auto";
  std::string cores_per_rank;
  bool oversubscribe = false;
};

// What places the ranks as this unit of mpirun's --map-by does; empty where no option alone does.
std::vector<std::string> own_words_of_unit(std::string_view unit);

// Error{usage} with "did you mean".
PlanOptions parse_plan_options(const PlanTexts& texts);

}  // namespace ddlrun::topology
