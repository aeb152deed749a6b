// SPDX-License-Identifier: MIT
#include "cli/job_flags.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace ddlrun::cli {

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("DIMS", options.dims, "ranks per node x nodes per rack x racks: 4x2x1");
  app.add_option("HOSTS", options.hosts, "these hosts, not any: h1,h2 or node[01-04]");
  app.add_option("WORD", options.extra, "")->group("");
  app.add_option("--job", options.file, "the job's file (./ddlrun.yaml, if it is there)");
  app.add_flag("--slurm", options.slurm, "hand it to Slurm");
  app.add_flag("--pbs", options.pbs, "hand it to OpenPBS or PBS Pro");
  app.add_flag("--torque", options.torque, "hand it to Torque");
  app.add_flag("--local", options.local, "run it here, without a scheduler");
  for (const schedulers::JobKey& key : schedulers::job_keys()) {
    if (key.value.empty()) continue;
    const std::string name = flag_of_key(key.name);
    app.add_option(name, options.flags[std::string(key.name)], std::string(key.summary))
        ->type_name(std::string(key.value))
        ->allow_extra_args(false);
  }
}

}  // namespace ddlrun::cli
