// SPDX-License-Identifier: MIT
#include "cli/plan_flags.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

void add_plan_options(CLI::App& app, PlanTexts& texts) {
  app.add_option("--order", texts.order,
                 "ddl: neighbour ranks in different racks; packed: host by host; default: ddl, or what the "
                 "framework assumes");
  app.add_option("--by", texts.by, "auto, gpus (cores near each GPU) or packages");
  app.add_option("--cores-per-rank", texts.cores_per_rank,
                 "exactly so many cores a rank (default: all dealt out)");
}

}  // namespace ddlrun::cli
