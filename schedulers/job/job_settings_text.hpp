// SPDX-License-Identifier: MIT
// Settings of a job as the text of a ddlrun.yaml.
#pragma once

#include "schedulers/job/job_settings.hpp"

#include <string>

namespace ddlrun::schedulers {

// A file that gives the same job, each setting with where it came from.
std::string render_job_settings(const JobSettings& settings);

// A file to edit: `settings` as lines, every other key as a comment with its values and meaning.
std::string render_commented_job_file(const JobSettings& settings);

// What applies to a job, in the order of the keys: the settings, and what holds without one; with `origins`
// each line ends with the place of its value.
std::string render_applying_settings(const JobSettings& settings, bool origins);

// The settings alone, in the order of the keys: "walltime: 04:00:00".
std::string render_job_lines(const JobSettings& settings);

}  // namespace ddlrun::schedulers
