// SPDX-License-Identifier: MIT
#include "doctor/diagnose/exit_status.hpp"

#include "base/text/signal_name.hpp"

#include <fmt/format.h>

#include <string_view>

namespace ddlrun::diagnose {

namespace {

struct Row {
  LogSource from;
  int status;
  std::string_view meaning;
};

constexpr Row rows[] = {
    {LogSource::mpirun, 132, "a program could not be executed on its host (mpirun's 132; not SIGILL)"},
    {LogSource::mpirun, 135,
     "the working directory does not exist on a host (mpirun's 135), or a rank got SIGBUS (128 + 7)"},
    {LogSource::mpirun, 205, "mpirun lost the daemon of another host: it was killed, or its host went away"},
    {LogSource::mpirun, 213, "mpirun could not place or start the ranks"},
    {LogSource::mpirun, 255,
     "mpirun could not start its daemons on the other hosts (ssh), or refused a host name"},
    // Negative: Torque 6 administrator guide, "Job Exit Status"; OpenPBS 23.06, src/include/job.h.
    {LogSource::pbs, -1, "the job failed before its files were staged, and is not tried again"},
    {LogSource::pbs, -2, "the job failed after its files were staged, and is not tried again"},
    {LogSource::pbs, -3, "the start of the job failed, and is tried again"},
    {LogSource::pbs, -4, "the job was aborted when the daemon of its host started"},
    {LogSource::pbs, -5, "the job was aborted when the daemon of its host started, and is run again"},
    {LogSource::pbs, -8, "Torque could not execute the job's command"},
    {LogSource::pbs, -9, "Torque could not create the job's output files"},
    {LogSource::pbs, -10,
     "Torque: the job used more memory than its limit; OpenPBS: no such user on the host"},
    {LogSource::pbs, -11, "Torque: the job reached its walltime; OpenPBS: the job is run again"},
    {LogSource::pbs, -12,
     "Torque: the job used more CPU time than its limit; OpenPBS: a checkpoint ended it"},
    {LogSource::pbs, -24, "the job used more CPUs at a time than its ncpus"},
    {LogSource::pbs, -25, "the job used more CPU time than ncpus x walltime allows"},
    {LogSource::pbs, -26, "the job used more virtual memory than its limit"},
    {LogSource::pbs, -27, "the job used more memory than its limit"},
    {LogSource::pbs, -28, "the job used more CPU time than its limit"},
    {LogSource::pbs, -29, "PBS ended the job: it reached its walltime"},
    {LogSource::pbs, 127, "the interpreter of the job script does not exist"},
    {LogSource::slurm, 255, "Slurm refused an option or a time"},
    {LogSource::unknown, -29, "PBS's number for a job that reached its walltime"},
    {LogSource::unknown, 124, "a time limit was reached, or --on-stall end ended a job that stalled"},
    {LogSource::unknown, 126, "the program was found, but is not executable"},
    {LogSource::unknown, 127, "the program, or the interpreter of a script, was not found"},
    {LogSource::unknown, 205, "mpirun's number for a lost daemon: it was killed, or its host went away"},
    {LogSource::unknown, 255, "ssh's own failure (connection, key, name), or a program that returned -1"},
};

const Row* find_row(LogSource from, int status) {
  for (const Row& row : rows) {
    if (row.from == from && row.status == status) return &row;
  }
  return nullptr;
}

std::string_view why_killed(int signal) {
  switch (signal) {
    case 9:
      return "; often by the kernel or the scheduler, out of memory";
    case 11:
      return ": invalid memory access";
    case 7:
      return "; with shared memory: /dev/shm is full";
    case 6:
      return ": the program aborted";
    case 15:
      return ": stopped from outside, by the scheduler, qdel, scancel or a time limit";
    default:
      return "";
  }
}

// None of the numbers that a launcher has for its own failures.
std::string status_of_program_meaning(int status) {
  if (status == 255) return "a program that returned -1";
  return status == 205 ? "" : status_meaning({status, LogSource::unknown});
}

}  // namespace

int signal_of(const RunStatus& end) {
  const int status = end.status.value_or(0);
  if (end.from == LogSource::mpirun && status == 132) return 0;
  if (end.from == LogSource::pbs && status < 0) return 0;
  if (status < 0 && status > -65 && !(status == -29 && end.from != LogSource::mpirun)) return -status;
  if (status > 256 && status <= 256 + 64) return status - 256;
  if (status > 128 && status <= 128 + 31) return status - 128;
  return 0;
}

std::string wait_status_words(int raw) {
  constexpr int signal_bits = 0x7f, status_shift = 8, highest = 0xff;
  const int status = (raw >> status_shift) & highest, signal = raw & signal_bits;
  if (raw < 0 || raw >> (2 * status_shift) != 0) return fmt::format("exit code {}", raw);
  if (signal != 0) return describe_signal(signal) + std::string(why_killed(signal));
  const std::string meaning = status_meaning({status, LogSource::unknown});
  return fmt::format("exit status {}{}{}", status, meaning.empty() ? "" : ": ", meaning);
}

std::string status_meaning(const RunStatus& end) {
  if (!end.status || *end.status == 0) return "";
  if (end.is_of_first_rank) return status_of_program_meaning(*end.status);
  const Row* row = find_row(end.from, *end.status);
  const int signal = signal_of(end);
  if (row == nullptr && signal == 0) row = find_row(LogSource::unknown, *end.status);
  if (row != nullptr) return std::string(row->meaning);
  if (signal == 0) return "";
  const int base = *end.status < 0 ? 0 : *end.status > 256 ? 256 : 128;
  const std::string sum = base == 0 ? fmt::format("-{}", signal) : fmt::format("{} + {}", base, signal);
  const std::string_view who = end.from == LogSource::mpirun ? "a rank was ended by" : "ended by";
  return fmt::format("{} {} ({}){}", who, signal_name(signal), sum, why_killed(signal));
}

}  // namespace ddlrun::diagnose
