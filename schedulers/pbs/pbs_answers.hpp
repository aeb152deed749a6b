// SPDX-License-Identifier: MIT
// What the commands of PBS and Torque print, as values: qsub's id, qstat's JSON and its folded text.
#pragma once

#include "schedulers/job/job_state.hpp"
#include "schedulers/job/scheduler_errors.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// One job of `qstat -f`: "job_state", "Exit_status", "Resource_List.walltime", ... all as text. Without the
// job's environment.
struct PbsJob {
  JobId id;
  std::map<std::string, std::string> attributes;

  // The value, or "".
  std::string get(const std::string& name) const;
  std::optional<int> number(const std::string& name) const;  // may be negative
};

// "0.minsky1", "3[].minsky1", "8", among what a site's hook may print.
std::optional<JobId> parse_qsub(std::string_view out);

// `qstat -f -F json`; an object without "Jobs" has none. Raw control characters and bytes that are no UTF-8
// are borne with; nothing where it is no JSON all the same, as from older PBS.
std::optional<std::vector<PbsJob>> parse_qstat_json(std::string_view out);
// `qstat -f`: PBS's and Torque's (folded at a newline and a tab), and that of Slurm's wrapper (tab before
// each).
std::vector<PbsJob> parse_qstat_text(std::string_view out);

JobStatus pbs_status(const PbsJob& job);
JobStatus torque_status(const PbsJob& job);
// The job that `id` means ("0", "0.minsky1"), or the end.
std::vector<PbsJob>::const_iterator find_pbs_job(const JobId& id, const std::vector<PbsJob>& jobs);
// Those of `jobs` that `id` means ("0", "0.minsky1", "3[]..." with its tasks), as one; unknown where
// there are none.
JobStatus status_of(const JobId& id, const std::vector<PbsJob>& jobs,
                    const std::function<JobStatus(const PbsJob& job)>& status, std::string_view unknown);

// `pbsnodes -a -F json`, a vnode with its attributes as a job; empty where it is no JSON.
std::vector<PbsJob> parse_pbsnodes(std::string_view out);
// The host of a vnode; a chunk may spread over the vnodes of one host.
std::string host_of(const PbsJob& vnode);

// What a job that waits could never get.
inline constexpr std::string_view kLessOfIt =
    "fewer nodes, or less per node, or another --queue: pbsnodes -a";
// Whether it waits, perhaps for what no host has.
bool waits_for_nodes(const JobStatus& status);
// Whether one chunk of the job requests more than any host has, free or not: then it is `never`.
void check_chunks_fit(JobStatus& status, const PbsJob& job, const std::vector<PbsJob>& vnodes);

// A comment of a job that waits ("Can Never Run: ..."), for people; "" if the state is clear.
std::string explain_pbs_comment(std::string_view comment);

std::span<const KnownError> pbs_refusals();  // qsub, qdel, qstat; Torque's words too

}  // namespace ddlrun::schedulers
