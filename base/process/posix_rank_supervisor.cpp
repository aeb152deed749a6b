// SPDX-License-Identifier: MIT
#include "base/process/posix_rank_supervisor.hpp"

#include "base/process/posix_process_guard.hpp"
#include "base/process/posix_tree_usage.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ddlrun {

namespace {

// All that can be caught are ours to judge.
Fd block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT}) {
    ::sigdelset(&all, signal);
  }
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  return Fd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Launchers signal the whole group, or as Slurm above an orted every process: the program has it already.
// Anybody else meant the rank and hit us.
void pass_on(const signalfd_siginfo& info, pid_t program) {
  const auto sender = static_cast<pid_t>(info.ssi_pid);
  const bool by_a_process = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE;
  if (!by_a_process || sender == 0 || info.ssi_signo == SIGCHLD) return;
  const pid_t launcher = ::getppid();
  const bool by_launcher = sender == launcher || sender == read_process(launcher).parent;
  if (sender == ::getpid()) return;  // what follows, to our group
  if (by_launcher && static_cast<int>(info.ssi_signo) == end_signal)
    ::kill(::getpgrp() == ::getpid() ? 0 : program, SIGTERM);
  if (by_launcher) return;
  ::kill(program, static_cast<int>(info.ssi_signo));
}

// With which a scheduler or a person asks a program to save and end. TERM may come as `end_signal`.
bool asks_to_save(const signalfd_siginfo& info) {
  constexpr std::array asking{SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, end_signal};
  return std::ranges::find(asking, static_cast<int>(info.ssi_signo)) != asking.end();
}

void stay_off_the_streams() {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) {
    if (null.open()) ::dup2(null.get(), stream);
  }
}

// mpirun and srun end the job at the first rank that fails, and drop what its stderr still has on its way
// (Open MPI 4.1.4, Slurm 22.05: 1 of 40 runs on a busy host).
constexpr int wait_after_failure_ms = 150;
// A rank gets SIGPIPE as soon as another rank is killed: the killed rank has to end first.
constexpr int wait_after_sigpipe_ms = 450;

[[noreturn]] void end_as(const ProcessResult& result) {
  if (result.signal == SIGPIPE)
    ::poll(nullptr, 0, wait_after_sigpipe_ms);
  else if (result.signal != 0 || result.exit_status != 0)
    wait_for_delivery();
  if (result.signal != 0) {
    const rlimit none{0,
                      0};  // the program has left its core dump, if any; one of the supervisor would not help
    ::setrlimit(RLIMIT_CORE, &none);
    ::signal(result.signal, SIG_DFL);
    sigset_t own;
    ::sigemptyset(&own);
    ::sigaddset(&own, result.signal);
    ::raise(result.signal);
    ::sigprocmask(SIG_UNBLOCK, &own, nullptr);
  }
  ::_exit(result.exit_status);
}

bool lacks_reader(int stream) {  // of a pipe
  pollfd polled{stream, 0, 0};
  return ::poll(&polled, 1, 0) == 1 && (polled.revents & POLLERR) != 0;
}

}  // namespace

void wait_for_delivery() { ::poll(nullptr, 0, wait_after_failure_ms); }

bool launcher_is_gone() { return lacks_reader(STDERR_FILENO); }

bool stdout_has_no_reader() { return lacks_reader(STDOUT_FILENO); }

int supervise_program(const Command& command, const Supervision& supervision) {
  const pid_t launcher = ::getppid();
  const Fd signals = block_signals();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // wakes this process; getppid() shows the cause
  if (launcher_is_gone()) ::_exit(128 + SIGTERM);
  GuardianOptions options;
  options.on_end = supervision.on_end;
  options.mark = supervision.mark;
  options.marks_only_err = supervision.marks_only_err;
  if (supervision.on_sample) {
    const auto look = [&](pid_t program) { supervision.on_sample(read_tree_snapshot(program)); };
    options.watches.push_back({look, supervision.every, supervision.every});
  }
  if (supervision.on_usage) {
    const auto look = [&](pid_t program) { supervision.on_usage(read_tree_usage(program)); };
    options.watches.push_back({look, supervision.usage_every, supervision.usage_first});
  }
  Guarded guarded = start_guarded(command, options);
  if (guarded.program < 0) return guarded.start_errno;
  stay_off_the_streams();  // their end is the program's to give
  bool was_signalled = false;
  while (true) {
    std::array<pollfd, 2> polls{{{guarded.reports.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}}};
    ::poll(polls.data(), polls.size(), 5000);
    signalfd_siginfo info{};
    while (::read(signals.get(), &info, sizeof info) == sizeof info) {
      was_signalled = was_signalled || asks_to_save(info);
      pass_on(info, guarded.program);
    }
    if (polls[0].revents != 0) {
      ProcessResult end = take_end(guarded, options);
      const bool saved = was_signalled && end.signal == 0 && supervision.saved_status != 0 &&
                         end.exit_status == supervision.saved_status;
      if (saved) wait_for_delivery();
      end_as(saved ? ProcessResult{} : end);
    }
    if (::getppid() != launcher) terminate_guarded(guarded);
  }
}

void write_status(std::string_view text) {
  struct stat kind {};
  if (::fstat(STDERR_FILENO, &kind) != 0) return;
  // A description of our own can be non-blocking without the program noticing.
  const Fd own(S_ISFIFO(kind.st_mode) ? ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1);
  pollfd err{STDERR_FILENO, POLLOUT, 0};
  if (!own.open() && (::poll(&err, 1, 0) != 1 || (err.revents & POLLOUT) == 0)) return;
  [[maybe_unused]] const ssize_t n =
      ::write(own.open() ? own.get() : STDERR_FILENO, text.data(), text.size());
}

}  // namespace ddlrun
