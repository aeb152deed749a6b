// SPDX-License-Identifier: MIT
// What Slurm's commands print, as values: sbatch, squeue, scontrol, sacct, scancel. Text only: the JSON of
// squeue 22.05 ignores -j, and that of sacct has wrong exit codes.
#pragma once

#include "schedulers/job/job_state.hpp"
#include "schedulers/job/scheduler_errors.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// The reason stands last: it is the only field that may hold any character. parse_squeue() expects this, also
// without its first field, run time and partition.
inline constexpr std::string_view kSqueueFormat = "%M;%P|%i|%T|%N|%r";
inline constexpr std::string_view kSacctFormat = "JobID,State,ExitCode,NodeList,Partition,Elapsed";

// "3", "3;cluster", "Submitted batch job 3", among what a site's plug-in may print.
std::optional<JobId> parse_sbatch(std::string_view out);

// A row each; an array's waiting tasks ("15_[2-5%2]") one by one, where they are at most 10000. Rows that are
// none are left out.
std::vector<JobStatus> parse_squeue(std::string_view out);
std::vector<JobStatus> parse_scontrol_jobs(std::string_view out);  // `scontrol -o show job`
std::vector<JobStatus> parse_sacct(std::string_view out);          // `sacct -X -n -P`, with or without header

// "42", "3:04", "02:03:04", "1-02:03:04" -> seconds; also a walltime of PBS.
std::optional<std::uint64_t> parse_elapsed(std::string_view text);

// "15_3", "15+1", "15_[2-5]" -> "15".
std::string_view job_part(std::string_view id);
// "15_[2-5%2]" -> {"15_2", ..., "15_5"}; anything else -> itself.
std::vector<JobId> expand_tasks(const JobId& id);

// "CANCELLED by 2000", "REQUEUE_HOLD"; the reason distinguishes waiting from held. An unknown word is taken
// for a running job's: it must not be taken for an end.
JobState slurm_state(std::string_view word, std::string_view reason);
// For people, with what to do; "" if the word is clear.
std::string explain_slurm(JobState state, std::string_view word, std::string_view reason);

// Whether the job waits for its begin time, or for the end of Slurm's wait after a requeue. Only scontrol
// prints this time in full.
bool is_kept_back(const JobStatus& status);

// What to ask for instead, where this reason for waiting never goes away by itself; "" where it may.
std::string_view slurm_never_remedy(std::string_view reason);
// A reason for how a job ended, not why it waited: a job cancelled in the queue keeps the latter.
bool is_slurm_end_reason(std::string_view reason);

std::span<const KnownError> slurm_refusals();

}  // namespace ddlrun::schedulers
