// SPDX-License-Identifier: MIT
// The record of a run, run.json: enough to report on the run and to repeat it.
// Names of variables only, never their values.
#pragma once

#include "base/os/system.hpp"
#include "launch/monitor/placement_check.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/rank/exports.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct RunEnd {
  std::chrono::system_clock::time_point time;
  int exit_status = 0;  // as a shell would report it
  int signal = 0;       // that ended mpirun, or 0
};

// Who runs it: a number that the kernel gave out again, or another boot, is not taken for it.
struct RunProcess {
  std::uint64_t pid = 0;
  std::uint64_t started_ticks = 0;  // as /proc/PID/stat has it
  std::string boot;                 // /proc/sys/kernel/random/boot_id
};

// `ddlrun launch` as it was typed, without the values of -x NAME=value.
struct TypedLaunch {
  Command words;
  Command program;  // behind "--"
};

struct RunRecord {
  std::string id;  // the folder's last name
  std::string ddlrun_version;
  std::string launcher;  // "openmpi", "mpich", "srun", ...
  std::string mpirun;    // as it was called
  std::string mpirun_version;
  std::string kernel;  // "6.1.0-18-amd64", or "" where it could not be read
  std::string host;    // where mpirun ran
  std::string working_folder;
  std::string dims;  // "4x2x3", or "" with a rankfile of the user's
  Command program;
  std::vector<std::string> exported;
  std::chrono::system_clock::time_point start;
  std::optional<RunEnd> end;             // nothing while it runs, or if ddlrun was killed
  std::optional<MonitorRecord> watched;  // nothing without supervisors
  bool verified = false;
  RunProcess process;
  std::optional<TypedLaunch> typed;  // nothing where another command started it
  std::string restart_of;            // the id of the run that ended badly before this start; ""
  unsigned restarts = 0;             // starts before this one
  std::string replay_of;             // the id of the run whose plan this is, or ""
  std::string result;                // the file that rank 0 wrote as its result, or ""
  std::string output = "screen";     // as --rank-output says, and " tee"
  std::vector<std::string> hosts;
  std::vector<std::uint32_t> machine_of_host;  // the number in topology-N.json, one a host
  std::string network;                         // which, and why; "" where nothing was chosen
  std::vector<std::string> remarks;            // what was decided for the user
  std::vector<std::string> findings;           // of the rankfile's linter
  std::vector<Reason> reasons;                 // of exports
  std::map<std::string, std::string> digests;  // of exported values that are no secrets: same or not
  std::string diagnosis;                       // why it ended badly, for people
  std::vector<std::string> last_lines;         // of stderr, where it ended badly
  std::vector<PlacementRow> placement;         // planned, and found where `verified`
};

// "2026-11-21T03:19:14Z"; the form that sorts, "20261121-031914", names folders.
std::string render_time(std::chrono::system_clock::time_point time);
std::string render_time_for_names(std::chrono::system_clock::time_point time);

// 16 hex digits that tell whether two values are the same.
std::string render_digest(std::string_view value);

// "schema": "ddlrun.run/1".
std::string render_run_json(const RunRecord& record);

// A word a line where no word holds a newline, and the line to paste as a comment on top.
std::string render_argv_file(const Command& argv, const std::string& pasteable);
// The same for programs: words that end in NUL, byte for byte.
std::string render_argv_nul(const Command& argv);

// "exported NAME" and "present NAME", sorted: what the ranks got and what else mpirun saw.
std::string render_environment_names(const EnvVars& environment, const Exports& exports);

}  // namespace ddlrun::launch
