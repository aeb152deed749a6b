// SPDX-License-Identifier: MIT
// What the head keeps of the signs of its ranks: their ends and stalls, and the first that failed. Pure.
#pragma once

#include "launch/rank/status_line.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// The exit status of a program that saved its state because of a stop signal: EX_TEMPFAIL, as ddl-train uses
// it.
constexpr int saved_status = 75;

struct RankEnd {
  std::uint32_t rank = 0;
  std::string host;
  int exit_status = 0;

  bool operator==(const RankEnd&) const = default;
};

struct MonitorRecord {
  std::optional<RankReport> first_failure;  // the first that launch read, or a rank killed alone soon after
  std::vector<RankEnd> failed_with;       // failed by themselves within 1 s of `first_failure`, in this order
  std::uint32_t alike = 0;                // so many ranks, all of the job, failed with the same error; else 0
  std::vector<std::uint32_t> differ;      // the two ranks whose calls of libddl differ, or none
  std::optional<RankReport> first_ended;  // by SIGTERM or SIGKILL, as mpirun does to the others
  std::vector<RankReport> stalls;         // as they were reported
  std::string stall;                      // the last for which --on-stall end may end the job, in words
  std::string stall_severity;             // with which it was printed: "warning", "note"
  // The rank of the last note that had printed an exception and did not end.
  std::optional<std::uint32_t> raised;
  std::vector<std::string> silent_hosts;  // at any time
  std::vector<std::string> lost_hosts;    // named as lost, or without reports of their ranks' ends
  std::map<std::uint32_t, int> ends;      // exit status by rank, of the ranks that reported
  std::vector<std::uint32_t> left_early;  // ended with status 0 before any failure, in this order
};

// The one that failed first, for a job that ended with `status`. A rank that SIGTERM or SIGKILL ended counts
// only if that is the job's own status: else mpirun sent the signal, because of something else.
std::optional<RankReport> find_first_failure(const MonitorRecord& record, int status);

// The rank for which the others waited, by their messages, failed before those ranks did: also where it left
// with status 0, or has not ended. A rank that a signal ended by itself was first nevertheless.
// `stood_still`: it had not left, so that only status 0 is an end of its own.
void blame(MonitorRecord& record, std::uint32_t rank, const std::string& host, bool stood_still = false);

// Of a rank's status: a launcher ends ranks by TERM, then KILL, whatever signal it got.
bool is_ended_by_launcher(int status);

// The status with which each of the `ranks` ended by itself, if it is one and the same, and not 0.
std::optional<int> find_common_end(const MonitorRecord& record, std::size_t ranks);

// Each of the `ranks` reported its end, with `saved_status` or 0, and at least one with the former.
bool all_saved(const MonitorRecord& record, std::size_t ranks);

// Each of the `ranks` reported its end with status 0.
bool all_ended_well(const MonitorRecord& record, std::size_t ranks);

// "host h2 was lost: the connection to it broke, or its daemon was killed".
std::string render_lost_hosts(const std::vector<std::string>& hosts);

// "rank 3 on h2", "ranks 0-3". `host`: of one rank; or "".
std::string name_ranks(const std::vector<std::uint32_t>& ranks, const std::string& host = {});

// Of a rank that has ended: "exited with status 7", "was ended by signal 9 (SIGKILL)".
std::string describe_end(const RankReport& report);

// "did not respond while the other ranks waited for it", or was stopped, or left (with status 0); "" for a
// bad end of its own.
std::string describe_absence(const RankReport& report);

// "rank 3 on h2 failed first: it exited with status 7", with what the signal is called.
std::string render_first_failure(const RankReport& report);

// "2 on h2 and 1 on h1", "2 on h2, 1 on h1, 0 on h1 and 61 more".
std::string name_ends(const std::vector<RankEnd>& ends);

// The statuses of `ends`, each once: "1", "1 and 3".
std::string render_statuses(const std::vector<RankEnd>& ends);

// Of the one that failed first; "all 4 ranks failed alike: exit status 1"; "ranks 2 on h2 and 1 on h1 failed
// within 1 s: exit status 1" where `failed_with` has others, because then it is not known which was first.
std::string render_failure(const MonitorRecord& record, const RankReport& first);

}  // namespace ddlrun::launch
