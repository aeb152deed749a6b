// SPDX-License-Identifier: MIT
// The user's settings of a job, from all places: flags, DDLRUN_* variables, ddlrun.yaml, the
// configuration of the user and of the centre, and the site's profile, laid over each other in this order and
// read once.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/client/job_request.hpp"
#include "schedulers/job/job_settings.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/job/setting_reader.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct JobOptions {
  std::string dims, hosts;         // positional
  std::vector<std::string> extra;  // more words, which are nothing
  std::string file;                // --job; "": ./ddlrun.yaml if there is one
  bool again = false;  // `file` has the settings of an earlier submission: only options change them
  bool slurm = false, pbs = false, torque = false, local = false;
  bool dry_run = false;  // a script for another machine: what is only wrong here is a remark
  std::map<std::string, std::vector<std::string>> flags;  // by key, as typed
  std::vector<std::string> program;                       // what stood behind "--"
};

// The flag of a setting: "--queue" of "queue", "--job-name" of "job_name".
std::string flag_of_key(std::string_view key);

// Adds an error for each option of job.launch_options and job.doctor_options that its program would reject.
using PassedOptionCheck = std::function<void(SettingReader& reader, const JobSpec& job)>;

// The settings of all layers, not yet read as a job.
struct JobLayers {
  JobSettings settings;
  templates::SiteProfile site;
  std::vector<std::string> configuration_files;  // for all jobs: the user's, the centre's
  std::vector<std::string> remarks;
  std::vector<Message> errors;  // keys that do not exist, each with its place
};
// Error{usage} for options that exclude each other, Error{request} for a file that cannot be read.
JobLayers load_job_layers(System& system, const JobOptions& options);

// Reads the layers and the job. Errors of all layers are in reading.errors. Error{usage} for options that
// exclude each other, Error{request} for a file that cannot be read. What the settings lack is looked up by
// `ask`.
JobRequest load_job_request(System& system, const JobOptions& options, const CommandRunner& ask,
                            const PassedOptionCheck& check_passed = {});

// The errors that `submit` would report for a job file with these settings, on any machine.
std::vector<Message> check_settings(System& system, const JobSettings& settings);

// All errors as messages; the exit status for them.
int print_errors(System& system, const JobRequest& wanted);

// The settings of the command line alone; Error{usage} for options that exclude each other.
JobSettings settings_of_flags(const JobOptions& options);

}  // namespace ddlrun::schedulers
