// SPDX-License-Identifier: MIT
// Jobs and how they stand as a JSON document for programs.
#pragma once

#include "schedulers/client/job_query.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ddlrun::schedulers {

using JobAndStatus = std::pair<JobRef, JobStatus>;

// Schema "ddlrun.status/1"; ends with a newline.
std::string render_status_json(const std::vector<JobAndStatus>& jobs);

// Tables for people, with one header: how they stand, and where their files are.
std::string render_status_table(const std::vector<JobAndStatus>& jobs);
std::string render_jobs_table(const std::vector<JobAndStatus>& jobs);

}  // namespace ddlrun::schedulers
