// SPDX-License-Identifier: MIT
#include "diagnose/exit_status.hpp"

#include "base/signal_name.hpp"

#include <fmt/format.h>

#include <string_view>

namespace ddlrun::diagnose {

namespace {

struct Row {
  Starter from;
  int status;
  std::string_view meaning;
};

constexpr Row rows[] = {
    {Starter::mpirun, 132, "a program could not be executed on its host (mpirun's 132; not SIGILL)"},
    {Starter::mpirun, 135,
     "the working folder is not there on a host (mpirun's 135), or a rank got SIGBUS (128 + 7)"},
    {Starter::mpirun, 205, "mpirun lost the daemon of another host: it was killed, or its host went away"},
    {Starter::mpirun, 213, "mpirun gave up: the ranks could not be placed or started"},
    {Starter::mpirun, 255,
     "mpirun could not start its daemons on the other hosts (ssh), or refused a host name"},
    {Starter::pbs, -29, "PBS ended the job: its walltime was used up"},
    {Starter::pbs, 127, "the interpreter of the job script is not there"},
    {Starter::slurm, 255, "Slurm refused an option or a time"},
    {Starter::unknown, -29, "PBS's number for a job whose walltime was used up"},
    {Starter::unknown, 124, "a time limit was reached"},
    {Starter::unknown, 126, "the program was found, but is not executable"},
    {Starter::unknown, 127, "the program, or the interpreter of a script, was not found"},
    {Starter::unknown, 205, "mpirun's number for a lost daemon: it was killed, or its host went away"},
    {Starter::unknown, 255, "ssh's own failure (connection, key, name), or a program that returned -1"},
};

const Row* find_row(Starter from, int status) {
  for (const Row& row : rows) {
    if (row.from == from && row.status == status) return &row;
  }
  return nullptr;
}

std::string_view why_killed(int signal) {
  switch (signal) {
    case 9:
      return "; often the kernel or the scheduler for want of memory";
    case 11:
      return ": it touched memory that is not its own";
    case 7:
      return "; with shared memory: /dev/shm is full";
    case 6:
      return ": it gave up by itself (abort)";
    case 15:
      return ": somebody told it to stop: the scheduler, qdel, scancel, a time limit";
    default:
      return "";
  }
}

}  // namespace

int signal_of(const RunStatus& end) {
  const int status = end.status.value_or(0);
  if (end.from == Starter::mpirun && status == 132) return 0;
  if (status < 0 && status > -65 && !(status == -29 && end.from != Starter::mpirun)) return -status;
  if (status > 256 && status <= 256 + 64) return status - 256;
  if (status > 128 && status <= 128 + 31) return status - 128;
  return 0;
}

std::string status_meaning(const RunStatus& end) {
  if (!end.status || *end.status == 0) return "";
  const Row* row = find_row(end.from, *end.status);
  const int signal = signal_of(end);
  if (row == nullptr && signal == 0) row = find_row(Starter::unknown, *end.status);
  if (row != nullptr) return std::string(row->meaning);
  if (signal == 0) return "";
  const int base = *end.status < 0 ? 0 : *end.status > 256 ? 256 : 128;
  const std::string sum = base == 0 ? fmt::format("-{}", signal) : fmt::format("{} + {}", base, signal);
  const std::string_view who = end.from == Starter::mpirun ? "a rank was ended by" : "ended by";
  return fmt::format("{} {} ({}){}", who, signal_name(signal), sum, why_killed(signal));
}

}  // namespace ddlrun::diagnose
