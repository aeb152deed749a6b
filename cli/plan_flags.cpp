// SPDX-License-Identifier: MIT
#include "cli/plan_flags.hpp"

#include "cli/option_group.hpp"

namespace ddlrun::cli {

using namespace topology;

void add_plan_options(CLI::App& app, PlanTexts& texts) {
  OptionGroup(app, "Placement")
      .option("--order", texts.order, "ORDER",
              "ddl: neighbouring ranks in different racks; packed: host by host; default: ddl, or what the "
              "framework assumes")
      .option("--map-by", texts.by, "UNIT",
              "gpus: cores near each GPU; packages: cores alone; auto (default)")
      .option("--cores-per-rank", texts.cores_per_rank, "N",
              "exactly N cores for each rank; default: share all cores")
      .flag("--oversubscribe", texts.oversubscribe,
            "let more ranks than cores share the cores, to try a job on a small machine");
}

}  // namespace ddlrun::cli
