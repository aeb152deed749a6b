// SPDX-License-Identifier: MIT
// The flags that decide a plan, shared by gen-rankfile and launch.
#pragma once

#include "topology/plan_options.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Declares --order, --map-by and --cores-per-rank. `texts` must outlive `app`.
void add_plan_options(CLI::App& app, topology::PlanTexts& texts);

}  // namespace ddlrun::cli
