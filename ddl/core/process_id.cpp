// SPDX-License-Identifier: MIT
#include "ddl/core/process_id.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace ddl {
namespace {

struct ProcessState {
  char state = 'X';
  std::uint64_t started = 0;
};

// Field 3 and field 22 of /proc/PID/stat; the name in field 2 may hold anything, but the last ')' ends it.
ProcessState read_process_state(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream fields(line.substr(end + 1));
  ProcessState found;
  fields >> found.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> found.started;
  return found;
}

}  // namespace

ProcessId this_process_id() { return {getpid(), read_process_state(getpid()).started}; }

bool is_running(const ProcessId& mark, bool seen) {
  if (mark.started == 0 || !seen) return true;
  const ProcessState now = read_process_state(mark.pid);
  return now.started == mark.started && now.state != 'Z' && now.state != 'X';
}

std::string describe_process(const ProcessId& mark) {
  const char state = read_process_state(mark.pid).state;
  const char* const text = state == 'T' || state == 't' ? "is stopped"
                           : state == 'R'               ? "runs"
                           : state == 'S'               ? "sleeps"
                           : state == 'D'               ? "waits for a disk"
                                                        : "has ended";
  return "process " + std::to_string(mark.pid) + " " + text;
}

}  // namespace ddl
