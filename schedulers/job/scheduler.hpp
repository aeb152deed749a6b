// SPDX-License-Identifier: MIT
// One scheduler: how a script for it looks, which commands it has, and what their answers mean. Everything is
// pure: commands are values, and `Ask` is given by the caller.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/job/job_state.hpp"
#include "schedulers/job/script.hpp"
#include "templates/site_profile.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// Runs one command and returns how it ended.
using CommandRunner = std::function<ProcessResult(const Command& command)>;

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual std::string_view name() const = 0;  // "slurm", "pbs", "torque", "local"
  virtual std::string_view tool() const = 0;  // what must be in PATH: "sbatch"
  // Error{request} where this scheduler cannot express what the job asks.
  virtual Script render(const JobSpec& job, const JobDirectory& dir,
                        const templates::SiteProfile& site) const = 0;
  virtual Command submit_command(const JobSpec& job, const std::string& script) const = 0;
  // Variables of the user's shell that would override the script ("SBATCH_*" by prefix).
  virtual std::vector<std::string> overriding_variables(const EnvVars& environment) const = 0;
  // Error{scheduler} with its own words and what they mean; Error{unreachable} if it does not answer.
  virtual JobId read_submission(const ProcessResult& answer) const = 0;
  // One call for all jobs where that is possible. Every id is in the result. Error{unreachable} if the
  // scheduler does not answer: a failed poll is not a failed job.
  virtual std::map<JobId, JobStatus> read_states(std::span<const JobId> ids,
                                                 const CommandRunner& ask) const = 0;
  // One job, with its name and the paths of its logs where the scheduler has them.
  virtual JobStatus read_details(const JobId& id, const CommandRunner& ask) const;
  virtual Command cancel_command(const JobId& id) const = 0;
  // Nothing to throw: it is gone or never was ("already over"), returned as text. Error{scheduler} otherwise.
  virtual std::string read_cancellation(const JobId& id, const ProcessResult& answer) const = 0;
};

// slurm, pbs, torque, local.
std::unique_ptr<Scheduler> make_scheduler(SchedulerKind kind);

// The scheduler that this machine has, by its commands and the environment of a job; several: distinguished
// by `qstat --version` (PBS) and sbatch. `found` answers whether a command is in PATH.
std::optional<SchedulerKind> detect_scheduler(const std::function<bool(const std::string& tool)>& found,
                                              const EnvVars& environment, const CommandRunner& ask);

// Seconds until the next question: 2 first, then growing to 30; after an error the double, up to 300. A
// change of state starts anew at 2, twice and then once an hour: at most some 130 questions an hour.
struct PollBackoff {
  double next(bool state_changed, bool failed);
  double current = 0;
  int failures = 0;
  double quick = 2;  // starts anew that are left
};

}  // namespace ddlrun::schedulers
