// SPDX-License-Identifier: MIT
// The flags of `ddlrun submit`: one for each setting of a job.
#pragma once

#include "schedulers/client/job_options.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Declares DIMS, HOSTS, --job, --slurm ... and a flag for each of schedulers::job_keys(). `options` must
// outlive `app`.
void add_job_options(CLI::App& app, schedulers::JobOptions& options);
// An option for each key of a ddlrun.yaml.
void add_job_settings(CLI::App& app, schedulers::JobOptions& options);

}  // namespace ddlrun::cli
