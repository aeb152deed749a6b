// SPDX-License-Identifier: MIT
// A job to submit: the settings of all layers, the site's profile, and the job that they describe.
#pragma once

#include "base/text/error.hpp"
#include "schedulers/job/job_settings.hpp"
#include "schedulers/job/job_spec.hpp"
#include "templates/site_profile.hpp"

#include <string>
#include <vector>

namespace ddlrun::schedulers {

struct JobRequest {
  JobSettings settings;  // all layers
  templates::SiteProfile site;
  ParsedJob parsed;
  std::vector<std::string> configuration_files;  // for all jobs: the user's, the centre's
  std::string template_text;                     // of the user's own job script, if there is one
  // What the errors are: usage where all of them stand on the command line, else request.
  ErrorKind errors_kind = ErrorKind::request;
};

}  // namespace ddlrun::schedulers
