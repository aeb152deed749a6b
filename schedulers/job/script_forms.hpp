// SPDX-License-Identifier: MIT
// The forms a job script has: one function for each scheduler's directives, and the blocks of the body that
// they share.
#pragma once

#include "schedulers/job/script.hpp"
#include "templates/site_profile.hpp"
#include "templates/user_template.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// Each throws Error{request} where its scheduler cannot express what the job asks, or a value cannot stand in
// a directive.
Script render_slurm(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site);
Script render_pbs(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site);
Script render_torque(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site);
Script render_local(const JobSpec& job, const JobDirectory& dir, const templates::SiteProfile& site);

// The names of a user's own template; see templates/user_template.hpp.
templates::TemplateValues template_values(const JobSpec& job, const JobDirectory& dir);
templates::TemplateRules template_rules(const JobSpec& job);

// Values.

// One word of bash that stands for exactly `word`, without a line break or another control byte in the
// script: such words are written $'...'. Error{request} for a NUL byte, which no argument can hold.
std::string shell_word(std::string_view word);
std::string shell_words(const std::vector<std::string>& words);
// The name of "NAME" or "NAME=value". Error{request} if a script cannot set it.
std::string variable_name(std::string_view entry);
// "NCCL_*": all exported variables of that prefix that the job finds set, but for names that look like
// secrets.
inline bool is_wildcard(std::string_view entry) {
  return entry.ends_with('*') && entry.find('=') == entry.npos;
}
// Names of the environment that a wildcard of `entries` means and no entry names; secrets are none of them.
std::vector<std::string> matching_variables(const std::vector<std::string>& entries,
                                            const EnvVars& environment);
// The variables that `environment` names without a value, each once.
std::vector<std::string> inherited_variables(const JobSpec& job);
// A directive of the user's or the site's, as it is: one line, without control bytes, beginning with '-'.
std::string verbatim_directive(std::string_view text, std::string_view origin);
// How the site carries the application code: "-A {}" -> "-A vasp"; `otherwise` if it is not set.
std::string application_directive(const JobSpec& job, const templates::SiteProfile& site,
                                  std::string_view otherwise);
// The job's output file, absolute; a job's own or job.output.
std::string output_path(const JobSpec& job, const JobDirectory& dir);
// "12gb" in PBS's words, "12G" in Slurm's: rounded up.
std::string render_memory(std::uint64_t bytes, std::string_view mega, std::string_view giga);
// "begin,fail" -> "BEGIN,FAIL" of Slurm, "ba" of PBS; "" is the end, well or badly. Error{request}.
std::string slurm_mail_types(const std::string& events);
std::string pbs_mail_points(const std::string& events);
// "0-9:2%3"; the step only where it is not 1.
std::string render_array(const ArrayRange& array);
// As OpenPBS takes it: one task has no form of its own.
std::string render_pbs_array(ArrayRange array);

// Blocks of the body.

using Lines = std::vector<std::string>;
void append(Lines& lines, const Lines& more);
Lines environment_lines(const JobSpec& job, const Lines& preamble);  // modules, conda, exports, setup lines
Lines program_lines(const JobSpec& job);                             // data, what is started, doctor
Lines signal_lines(const JobSpec& job);  // what is done on a signal; the own alarm
Lines supervisor_lines(const JobSpec& job, const JobDirectory& dir);  // start, wait, requeue, end
// Whether the script needs the ddlrun binary.
bool needs_ddlrun(const JobSpec& job);

}  // namespace ddlrun::schedulers
