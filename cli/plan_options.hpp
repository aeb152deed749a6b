// SPDX-License-Identifier: MIT
// The options that decide a plan, shared by gen-rankfile and launch.
#pragma once

#include "topology/plan.hpp"

#include <string>

namespace CLI {
class App;
}

namespace ddlrun::cli {

// As typed.
struct PlanTexts {
  std::string order;  // "": ddl, or what the program's framework assumes
  std::string by = "auto";
  std::string cores_per_rank;
};

// Declares --order, --by and --cores-per-rank. `texts` must outlive `app`.
void add_plan_options(CLI::App& app, PlanTexts& texts);

// Error{usage} with "did you mean".
topology::PlanOptions parse_plan_options(const PlanTexts& texts);

}  // namespace ddlrun::cli
