// SPDX-License-Identifier: MIT
// A script for one scheduler -> the same job for the other. What cannot be carried over is reported, never
// dropped silently.
#pragma once

#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"
#include "templates/site_profile.hpp"

#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct Conversion {
  std::string text;                      // the whole script
  std::vector<Unsupported> unsupported;  // also comments in it; in the order of the lines
};

// `to` is the other dialect. `site` is the centre that the new script is for, or null.
Conversion convert_script(const JobScript& script, Dialect to, const templates::SiteProfile* site);

// Error{request} for a script of ddlrun submit: its settings contain more than the script. `instead` is what
// to type.
void refuse_own_script(const JobScript& script, const std::string& instead);

}  // namespace ddlrun::job_scripts
