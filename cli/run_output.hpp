// SPDX-License-Identifier: MIT
// The output of a run of `ddlrun launch`, as its run directory keeps it, and its end.
#pragma once

#include "base/os/system.hpp"
#include "schedulers/client/job_ref.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::cli {

// Prints the files of all ranks, each behind its path. Error{request} for a run that kept none: launch keeps
// the output only with --tee or --rank-output files.
void print_run_output(System& system, const std::string& run);

// The same, and what the ranks print until the run ends. Returns the exit status of the run; a signal leaves
// the run alone: 128 + its number.
int follow_run_output(System& system, const std::string& run);

// Whether a word is the directory of a job, as its script leaves it: DIR/output.log, of an array
// DIR/output.N.log.
bool names_job_directory(System& system, const std::string& word);

// Prints the logs in it; with `follow`, also what is added until its newest run ends, whose exit status it
// returns.
int print_job_directory(System& system, const std::string& directory, bool follow);

struct RunWait {
  int status = 0;              // the exit status of the run; 128 + a signal that came meanwhile
  bool is_left_alone = false;  // by that signal: the run goes on
};

// Until the run ends, without its output. Error{request} where its ddlrun is gone and wrote no end.
RunWait wait_for_run(System& system, const std::string& run);

// The files of the ranks, of all runs of launch in a job that keep the output there instead of in the job's
// log.
class JobRankFiles {
 public:
  explicit JobRankFiles(schedulers::JobRef job) : job_(std::move(job)) {}
  // Those of runs that were not there at the last call.
  std::vector<std::string> find_new(System& system);

 private:
  schedulers::JobRef job_;
  std::set<std::string> known_;
};

}  // namespace ddlrun::cli
