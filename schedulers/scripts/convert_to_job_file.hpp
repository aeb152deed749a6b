// SPDX-License-Identifier: MIT
// Anyone's job script -> the settings of a ddlrun.yaml. What a job file cannot express is reported, never
// dropped silently.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/job_settings.hpp"
#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"
#include "templates/site_profile.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct JobFile {
  schedulers::JobSettings settings;
  std::vector<Unsupported> unsupported;  // in the order of the lines
};

// The program that a launcher's command starts, without the launcher and its options; nothing for a command
// that is no launcher.
using UnwrapLauncher = std::function<std::optional<Command>(const Command&)>;

// What the launcher's own options become: variables for the ranks, "NAME=value", and words that are left out.
// `unknown`: options whose values, if any, may stand in the program.
struct LauncherOptions {
  std::vector<std::string> variables, left_out, unknown;
};
using SortLauncherOptions = std::function<LauncherOptions(const Command&)>;

// Error{request} for a script without directives, or one that ddlrun submit wrote.
JobFile convert_to_job_file(const JobScript& script, const templates::SiteProfile* site,
                            const UnwrapLauncher& unwrap, const SortLauncherOptions& sort_options);

}  // namespace ddlrun::job_scripts
