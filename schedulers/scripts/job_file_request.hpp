// SPDX-License-Identifier: MIT
// The keys of a job file that the directives of a script set, without the shape of the job.
#pragma once

#include "schedulers/scripts/convert_to_job_file.hpp"
#include "schedulers/scripts/job_file_signal.hpp"
#include "schedulers/scripts/request.hpp"

namespace ddlrun::job_scripts {

// Queue, limits, payer, mail, array, signal. `site` may be null. What no key has is reported in `file`.
void write_request(const JobScript& script, const ResourceRequest& request, const CarriedSignal& signal,
                   const templates::SiteProfile* site, JobFile& file);

}  // namespace ddlrun::job_scripts
