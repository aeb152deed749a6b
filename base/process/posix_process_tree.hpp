// SPDX-License-Identifier: MIT
// All processes below one, from /proc: their progress, and how to end them. Linux only.
#pragma once

#include "base/process/process_stat.hpp"
#include "base/process/tree_snapshot.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// A process and when it started: a number that the kernel gave out again is not taken for it.
struct ProcessId {
  pid_t pid = -1;
  std::uint64_t start = 0;

  bool operator==(const ProcessId&) const = default;
};

// Identifies a process and names it in one line.
struct Process {
  ProcessId id;
  pid_t parent = -1;
  char state = '?';                               // R S D T t Z X
  std::string name;                               // printable, without blanks
  std::uint64_t cpu_ticks = 0, waited_ticks = 0;  // as in ProcessStat
  std::uint64_t resident_pages = 0;
};

// A file of /proc or /sys; "" if there is none.
std::string read_small(const std::string& path);

// pid -1 where there is no stat.
Process as_process(const std::optional<ProcessStat>& stat);

// pid -1 if there is no such process.
Process read_process(pid_t pid);

// The count behind `key`, "wchar: ", in the text of /proc/PID/io; nothing if it is not there.
std::optional<std::uint64_t> find_io_count(std::string_view io, std::string_view key);

// To files, pipes and terminals; nothing if the kernel does not count it or there is no such process.
std::optional<std::uint64_t> read_bytes_written(pid_t pid);

// Of the process; empty if there is none.
std::vector<pid_t> find_threads(pid_t pid);

// All below `root`, parents first; a zombie is one too.
std::vector<Process> find_descendants(pid_t root);

// Sends the signal unless the process has gone meanwhile; false where it was not sent.
bool signal_process(const ProcessId& process, int signal);

// TERM to this one alone, and KILL if it still runs after `grace`. Does not take what is left of it.
void end_process(const ProcessId& process, std::chrono::milliseconds grace);
// The same for a process that already got the signal: mpirun takes a second TERM as urgent and leaves its
// files.
void wait_or_kill(const ProcessId& process, std::chrono::milliseconds grace);

// Ends all processes below this one, which must be a subreaper: TERM once to each, KILL after `grace`. Takes
// what is left of them, so none stays as a zombie. Returns how many there were to end.
int end_descendants(std::chrono::milliseconds grace);

TreeSnapshot read_tree_snapshot(pid_t root);

}  // namespace ddlrun
