// SPDX-License-Identifier: MIT
// How a job stands, in words that are the same for every scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// "1234", "15_3", "1234;cluster" (Slurm), "0.minsky1", "3[].minsky1", "3[0].minsky1" (PBS).
using JobId = std::string;

enum class JobState {
  queued,
  held,
  running,
  completed,    // exit status 0
  failed,       // the job's own exit status or signal
  cancelled,    // by somebody
  timed_out,    // its walltime was used up
  node_failed,  // a host went away
  out_of_memory,
  unknown,  // the scheduler does not have the id (any more)
};
std::string_view name_of(JobState state);                        // "timed out"
std::optional<JobState> parse_job_state(std::string_view name);  // name_of's words
bool is_over(JobState state);                                    // completed .. out_of_memory; not unknown

// How a job ends that only waited.
constexpr std::string_view deleted_while_queued = "deleted before it started";

struct JobStatus {
  JobId id;
  JobState state = JobState::unknown;
  std::string word;                // the scheduler's own: "COMPLETING", "F", "CANCELLED by 2000"
  std::optional<int> exit_status;  // as a shell would report it, if the scheduler has it
  int signal = 0;                  // that ended it
  std::string reason;              // why it waits or ended, in the scheduler's words: "PartitionNodeLimit"
  std::string explained;           // the same for people, with what to do; "" if the reason is clear
  std::string hosts;               // "node[1-4]", "n1,n2"
  std::string queue;               // or partition
  std::string name, output, error_output;    // of the job; paths of its logs: "" where they are not known
  std::optional<std::uint64_t> run_seconds;  // so far, or in all; of a requeued job also its earlier parts
  int restarts = 0;
  std::size_t runs = 0;           // of ddlrun launch in it, where it has started again
  std::uint64_t all_seconds = 0;  // of these runs together
  // For its turn or for free nodes: Slurm changes between the two reasons, and may name each of several jobs.
  bool waits_turn = false;
  bool never = false;     // it waits for what cannot come: it stays in the queue until somebody cancels it
  std::string remedy;     // what to ask for instead, where `never`
  bool at_limit = false;  // completed, as its time limit came
  bool may_lack_tasks = false;   // an array of which the scheduler may have forgotten tasks
  std::vector<JobStatus> tasks;  // of an array; its own state is the join of theirs

  const std::string& clear_reason() const { return explained.empty() ? reason : explained; }
  // Over, and no host had it: cancelled or lost while it waited.
  bool never_started() const;
};

// The state of an array: running if any runs, queued if any waits, else the worst; exit status the highest,
// all hosts, the time of the task that ran longest.
JobStatus join_tasks(JobId id, std::vector<JobStatus> tasks);

}  // namespace ddlrun::schedulers
