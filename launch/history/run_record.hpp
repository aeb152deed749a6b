// SPDX-License-Identifier: MIT
// The record of a run, run.json ("schema": "ddlrun.run/1"): one model, written by `launch` and read by
// `history`, `replay` and `report`. Names of variables only, never their values. Pure.
#pragma once

#include "launch/monitor/monitor_record.hpp"
#include "launch/rank/exports.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

constexpr std::uint64_t max_run_json_bytes = 512u << 20;

struct RunEnd {
  std::string time;     // "2026-11-21T04:20:15Z"
  int exit_status = 0;  // as a shell would report it
  int signal = 0;       // that ended mpirun, or 0
  int stopped_by = 0;   // the signal by which a user or a scheduler stopped ddlrun, or 0

  // Ended on request, by Ctrl-C, cancel or the end of its job, whatever its program then exits with. A run
  // that saved is none, nor one that died of a signal that only warns, as USR1.
  bool is_cancelled() const;
  // Its program saved its state and can continue: no failure.
  bool is_saved() const;
};

struct RunFailure {
  std::uint32_t rank = 0;
  std::string host;
  int exit_status = 0;
  int signal = 0;
  int start_error = 0;  // the errno if its program could not be started
  // "did not respond while the other ranks waited for it"; "" for a bad end of its own.
  std::string absence = {};

  // Failed in the same second, where nothing shows which was first; then without `absence` and signal.
  std::vector<RankEnd> with = {};

  // So many ranks, all of the run, failed with the same error; else 0.
  std::uint32_t alike = 0;

  // The two ranks whose calls of libddl differ; else none.
  std::vector<std::uint32_t> differ = {};

  // `rank` and those of `with`.
  std::vector<RankEnd> all() const;
  // `absence`, or how it ended: "exited with status 7".
  std::string words() const;
};

struct RunStall {
  std::uint32_t rank = 0;
  std::string host;
  int seconds = 0;    // without progress
  std::string state;  // of the process, as /proc/PID/stat has it: "T"; "C": it computes while others wait
  int pid = 0;
  std::string process;  // its name
};

// What the monitor of the ranks found.
struct RunMonitoring {
  std::optional<RunFailure> first_failure;
  std::vector<RunStall> stalls;
  std::vector<std::string> silent_hosts;  // at any time
  std::vector<std::string> lost_hosts;
  std::string stall = {};           // for which --on-stall end ended the run, in words
  std::string stall_severity = {};  // with which it was printed: "warning", "note"
};

struct RunRank {
  std::uint32_t rank = 0, local_rank = 0;
  std::string host, slot, planned_pus;
  std::optional<int> exit_status;     // nothing where it is not known
  std::string found_host, found_pus;  // "" where the rank did not report its place
  std::string verdict;                // ok, differs, silent; "" if not verified
  std::string why;                    // what differs, for people
};

// The process that runs it: another process with the same number, or another boot, does not match.
struct RunProcess {
  std::uint64_t pid = 0;
  std::uint64_t started_ticks = 0;  // as /proc/PID/stat has it
  std::string boot;                 // /proc/sys/kernel/random/boot_id
};

// `ddlrun launch` as it was typed, without the values of -x NAME=value.
struct TypedLaunch {
  std::vector<std::string> words;
  std::vector<std::string> program;  // behind "--"
};

struct RunRecord {
  std::string id;             // the run directory's last name
  std::string start;          // "2026-11-21T03:19:14Z"
  std::int64_t start_us = 0;  // since 1970, for the order of runs that begin in one second; 0: unknown
  std::optional<RunEnd> end;  // nothing while it runs, or if ddlrun was killed
  std::string host;           // where mpirun ran
  std::string workdir;
  std::vector<std::string> program;
  std::string dims;              // "4x2x3", or "" with a rankfile of the user's
  std::uint64_t rank_count = 0;  // `ranks` may have been skipped
  std::vector<std::string> exported;
  std::string launcher;  // "openmpi", "mpich", "srun", ...
  std::string mpirun;    // as it was called
  std::string ddlrun_version, mpirun_version;
  std::string kernel;                          // "6.1.0-18-amd64", or "" where it could not be read
  std::optional<RunMonitoring> watched;        // nothing without supervisors
  bool verified = false;                       // places were compared
  RunProcess process;                          // pid 0: unknown
  std::optional<TypedLaunch> typed;            // nothing where another command started it
  std::string replay_of;                       // the id of the run whose plan this is, or ""
  std::string restart_of;                      // the id of the run that failed before this start, or ""
  unsigned restarts = 0;                       // starts before this one
  std::string job;                             // the scheduler's job in which it ran, or ""
  std::string result;                          // the file that rank 0 wrote as its result, or ""
  std::string output;                          // as --rank-output says, and " tee"
  std::string network;                         // which, and why; "" where nothing was chosen
  std::vector<std::string> remarks;            // what was decided for the user
  std::vector<std::string> findings;           // of the rankfile's linter
  std::vector<Reason> reasons;                 // of exports
  std::map<std::string, std::string> digests;  // of exported values that are no secrets: same or not
  std::string diagnosis;                       // why it failed, for people
  bool cause_is_known = false;                 // `diagnosis` has a cause
  std::vector<std::string> last_lines;         // of stderr, where it failed
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> machine_of_host;  // the number in topology-N.json, one a host
  std::vector<RunRank> ranks;                  // ascending

  // The rank that failed first, by itself: null where the end of a cancelled job ended it, and where it
  // saved.
  const RunFailure* first_failure() const;
};

std::string render_run_json(const RunRecord& record);

// Fields that an older ddlrun did not write are empty. Error{request} that names `where` for text that is no
// JSON, has another schema or holds a wrong type. With `with_ranks` false the ranks are skipped, which is
// quick where there are many.
RunRecord parse_run_json(std::string_view text, const std::string& where, bool with_ranks = true);

// "2026-11-21T03:19:14Z"; the form that sorts, "20261121-031914", names directories.
std::string render_time(std::chrono::system_clock::time_point time);
std::string render_time_for_names(std::chrono::system_clock::time_point time);
// Seconds since 1970 of a name that begins with "20261121-031914"; nothing for any other form.
std::optional<std::int64_t> parse_name_time(std::string_view name);

// Seconds since 1970 of "2026-11-21T03:19:14Z"; nothing for any other form.
std::optional<std::int64_t> parse_run_time(std::string_view text);

// 16 hex digits that show whether two values are the same.
std::string render_digest(std::string_view value);

}  // namespace ddlrun::launch
