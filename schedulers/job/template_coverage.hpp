// SPDX-License-Identifier: MIT
// Settings of a job without a placeholder in the user's template: they would be lost silently, since a
// template stands instead of the script that carries everything.
#pragma once

#include "schedulers/job/job_spec.hpp"
#include "templates/user_template.hpp"

#include <set>
#include <string>
#include <vector>

namespace ddlrun::schedulers {

// A fact of the job that no placeholder carries.
struct DroppedSetting {
  std::string key;    // "walltime"
  std::string value;  // "04:00:00"
  std::string where;  // "ddlrun.yaml:3:11", "--walltime"
  std::string
      placeholder;  // the line to add: "#SBATCH --time={{walltime|sbatch}}"; "" where none can carry it
};

// In the order of job_keys(). `placeholders`: the names that the template uses.
std::vector<DroppedSetting> dropped_settings(const JobSpec& job, const JobSettings& settings,
                                             const std::set<std::string>& placeholders);

// Jobs that cannot be followed or whose end is unknown, with the line to add. A job without scheduler whose
// script does not write its exit status down is refused instead: no other source has it.
std::vector<std::string> template_remarks(const JobSpec& job, const templates::FilledTemplate& filled);
std::vector<Message> check_template(const JobSpec& job, const std::set<std::string>& placeholders,
                                    const std::string& dir);

// Whether the log of such a job is where ddlrun looks for it: its path is in the template, or in the command
// that hands it in.
bool template_sets_log(SchedulerKind scheduler, const std::set<std::string>& placeholders);

}  // namespace ddlrun::schedulers
