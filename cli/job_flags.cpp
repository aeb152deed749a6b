// SPDX-License-Identifier: MIT
#include "cli/job_flags.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace ddlrun::cli {

using namespace schedulers;

void add_job_options(CLI::App& app, JobOptions& options) {
  app.add_option("DIMS", options.dims,
                 "ranks per host x hosts per rack x racks [x aisles], for example 4x2x3");
  app.add_option("HOSTS", options.hosts, "run on these hosts only: h1,h2 or node[01-04]");
  app.add_option("WORD", options.extra, "")->group("");
  app.add_option("--job", options.file, "the job file (./ddlrun.yaml if it exists)")->type_name("FILE");
  app.add_flag("--slurm", options.slurm, "submit to Slurm");
  app.add_flag("--pbs", options.pbs, "submit to OpenPBS or PBS Pro");
  app.add_flag("--torque", options.torque, "submit to Torque");
  app.add_flag("--local", options.local, "run the job on this host, without a scheduler");
  add_job_settings(app, options);
}

void add_job_settings(CLI::App& app, JobOptions& options) {
  for (const schedulers::JobKey& key : schedulers::job_keys()) {
    if (key.value.empty()) continue;
    const std::string name = flag_of_key(key.name);
    app.add_option(name, options.flags[std::string(key.name)], std::string(key.summary))
        ->type_name(std::string(key.value))
        ->group(std::string(key.group))
        ->allow_extra_args(false);
  }
}

}  // namespace ddlrun::cli
