// SPDX-License-Identifier: MIT
// Ids of runs of `ddlrun launch`, given to commands that take jobs; ids of jobs, given to those that take
// runs.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/history.hpp"
#include "schedulers/client/job_ref.hpp"
#include "schedulers/job/job_state.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::cli {

// Error{request} where one of the ids names a run: `command` takes jobs alone.
void refuse_run_ids(const std::vector<std::string>& ids, const std::string& command);

// The directory of the run that `word` means: as launch::find_run_directory(), but a job of the history comes
// before the beginning of a run's id: "2", "9_1", "9[1]". Of a job, its newest run. `command` is for the
// remedy. Error{request} for a job without a run, and for an array as a whole.
std::string find_run_or_job(System& system, const std::string& word, const std::string& command);

// The runs of a job, of which one that started again has several, oldest first; empty where `word` means no
// job, for a job that was not submitted here, and for an array as a whole.
std::vector<launch::HistoryRow> read_job_runs(System& system, const std::string& word);
std::vector<launch::HistoryRow> read_job_runs(System& system, const schedulers::JobRef& job);

// The runs of the job in `status`: how many, and their time. Slurm's run time of a requeued job is that of
// its last part; `status` gets that of all parts.
void add_run_times(System& system, const schedulers::JobRef& job, schedulers::JobStatus& status);

// The directories of the runs that launch made for the job, by name; of a job of plain qsub or sbatch those
// in the list of runs.
std::vector<std::string> list_run_directories(System& system, const schedulers::JobRef& job);

// A job of plain qsub or sbatch, as the scheduler of this machine knows it.
std::optional<schedulers::JobRef> find_plain_job(System& system, const std::string& word);
// The same, but not the job of this process, and no job without a log: each run of an interactive one is a
// work of its own.
std::optional<schedulers::JobRef> find_plain_batch_job(System& system, const std::string& id);

// What a run in a job of plain qsub or sbatch means by `last`: the job, or the run alone.
enum class PlainJob { counts, passed_over };
struct RunOrJob {
  std::string run;  // its id, its directory or the name of several; "" for a job
  std::string job;
};
// What `word` means to a command that takes runs and jobs. `last` is the newest run if that is newer than the
// newest job and belongs to no job.
RunOrJob find_meant(System& system, const std::string& word, PlainJob plain);

// Error{request} for the directory of a job: one that was handed in by hand has no id in it.
void refuse_job_directories(System& system, const std::vector<std::string>& words);

struct RunsAndJobs {
  std::vector<std::string> runs, jobs;
};
RunsAndJobs find_meant_runs(System& system, const std::vector<std::string>& words, PlainJob plain);

}  // namespace ddlrun::cli
