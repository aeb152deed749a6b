// SPDX-License-Identifier: MIT
#include "base/process/posix_process_guard.hpp"

#include "base/process/posix_keyboard_shield.hpp"
#include "base/process/posix_process_tree.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

namespace ddlrun {

namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The report of the guard, in one write.
struct Report {
  enum Kind : int { started, failed, ended } kind = failed;
  int value = 0;  // pid, errno, status
  int signal = 0;
};

void send_report(const Fd& fd, const Report& report) {
  [[maybe_unused]] const ssize_t n = ::write(fd.get(), &report, sizeof report);
}

bool read_report(const Fd& fd, Report& report) {
  ssize_t n = 0;
  do {
    n = ::read(fd.get(), &report, sizeof report);
  } while (n < 0 && errno == EINTR);
  return n == sizeof report;
}

int ms_until(Steady::time_point time) {
  const auto left = std::chrono::duration_cast<milliseconds>(time - Steady::now()).count() + 1;
  return static_cast<int>(std::max<long long>(left, 0));
}

void detach(int stream) {
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.open()) ::dup2(null.get(), stream);
}

class Guardian {
 public:
  Guardian(const GuardianOptions& options, Fd alive, Fd reports)
      : options_(options), alive_(std::move(alive)), reports_(std::move(reports)) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, "ddlrun-guard");
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    signals_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run(const Command& command) {
    if (!start(command)) return 127;
    const bool ended = attend();
    const milliseconds grace = grace_after(ended);
    if (!relay_) detach(STDERR_FILENO);
    reports_.reset();
    if (!ended && options_.program_grace.count() > 0) end_process(program_, options_.program_grace);
    end_descendants(grace);
    if (relay_) relay_->finish(alive_);
    if (options_.after_all) options_.after_all(program_.pid);
    return 0;
  }

 private:
  bool start(const Command& command) {
    SpawnOptions spawn;
    spawn.out = spawn.err = Stream::inherit;
    // Else a launcher's signals to our group reach the program directly, and once.
    spawn.own_group = options_.own_group;
    spawn.empty_stdin = false;
    Pipe typed;
    if (options_.own_group && ::tcgetpgrp(STDIN_FILENO) >= 0) typed = make_pipe();
    if (typed.write.open() && start_typing(typed.write.get()) > 0) spawn.given_in = typed.read.get();
    spawn.extra = options_.extra;
    if (options_.mark) relay_.emplace(options_.mark, options_.marks_only_err);
    if (relay_) spawn.given_out = relay_->out_end();
    if (relay_) spawn.given_err = relay_->err_end();
    const Child child = spawn_child(command, spawn);
    if (relay_) relay_->close_ends();
    if (child.pid < 0) {
      send_report(reports_, {Report::failed, child.start_errno, 0});
      return false;
    }
    program_ = read_process(child.pid).id;
    program_.pid = child.pid;
    // Out of reach of a KILL to the group. A session of its own, too: in a batch script, where no shell holds
    // the group, the kernel sends HUP to the whole group if one of its processes is stopped and another one
    // ends whose parent is in the same session and in another group (setpgid(2), orphaned process groups).
    if (::setsid() < 0) ::setpgid(0, 0);
    detach(STDIN_FILENO);
    detach(STDOUT_FILENO);
    if (options_.capture_err) detach(STDERR_FILENO);
    send_report(reports_, {Report::started, child.pid, 0});
    return true;
  }

  // Until the program has ended (true) or the one that we report to has.
  bool attend() {
    const auto start = Steady::now();
    std::vector<Steady::time_point> next;
    for (const GuardianWatch& watch : options_.watches) next.push_back(start + watch.first);
    while (true) {
      std::vector<pollfd> polls{{alive_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
      const int hold = relay_ ? relay_->add_polls(polls) : -1;
      const int wait = next.empty() ? -1 : ms_until(*std::min_element(next.begin(), next.end()));
      ::poll(polls.data(), polls.size(), hold >= 0 && (wait < 0 || hold < wait) ? hold : wait);
      if (relay_) relay_->forward_some();
      if (reap()) return true;
      if (polls[0].revents != 0) return false;
      for (std::size_t i = 0; i < next.size(); ++i) {
        if (Steady::now() < next[i]) continue;
        options_.watches[i].look(program_.pid);
        next[i] = Steady::now() + options_.watches[i].every;
      }
    }
  }

  // Takes all that have ended; true once the program was among them.
  bool reap() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    }
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != program_.pid) continue;
      ProcessResult end;
      end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      killed_ = end.signal == SIGKILL;
      end.exit_status = end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
      if (killed_ && parent_ends()) end.forwarded_signal = SIGKILL;
      if (relay_) relay_->finish(alive_);  // its last words stand before its end
      if (options_.on_end) options_.on_end(end);
      send_report(reports_, {Report::ended, end.exit_status, end.signal});
      return true;
    }
    return false;
  }

  // A KILL to the group ends the one that we report to as well; a KILL for want of memory does not.
  bool parent_ends() const {
    constexpr int patience_ms = 20;
    pollfd alive{alive_.get(), POLLIN, 0};
    return ::poll(&alive, 1, patience_ms) != 0;
  }

  // What was killed outright, by mpirun or anybody, leaves nothing that deserves patience.
  milliseconds grace_after(bool ended) const {
    if (options_.program_grace.count() > 0) return ended ? options_.grace : options_.leftover_grace;
    if (ended) return killed_ ? milliseconds(0) : options_.leftover_grace;
    char word = 0;
    const bool terminate_guarded = ::read(alive_.get(), &word, 1) == 1;
    return terminate_guarded ? options_.grace : milliseconds(0);
  }

  const GuardianOptions& options_;
  Fd alive_, reports_, signals_;
  ProcessId program_;
  std::optional<OutputRelay> relay_;
  bool killed_ = false;
};

[[noreturn]] void be_guardian(const Command& command, const GuardianOptions& options, Fd alive, Fd reports) {
  int status = 70;
  try {
    status = Guardian(options, std::move(alive), std::move(reports)).run(command);
  } catch (const std::exception&) {
    end_descendants(options.grace);
  }
  ::_exit(status);
}

// A dying process closes its files before its children get another parent: its end is worth a moment. One
// that was let go of lives on.
void wait_until_dead(pid_t guardian) {
  for (int turn = 0; turn < 50; ++turn) {
    siginfo_t info{};
    const bool asked = ::waitid(P_PID, static_cast<id_t>(guardian), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    if (!asked || info.si_pid == guardian) return;
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace

Guarded start_guarded(const Command& command, const GuardianOptions& options) {
  Guarded guarded;
  Pipe alive = make_pipe(), reports = make_pipe(), err = options.capture_err ? make_pipe() : Pipe{};
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t pid = ::fork();
  if (pid < 0) {
    guarded.start_errno = errno;
    guarded.start_error = std::strerror(errno);
    return guarded;
  }
  if (pid == 0) {
    alive.write.reset();
    reports.read.reset();
    err.read.reset();
    if (err.write.open()) ::dup2(err.write.get(), STDERR_FILENO);
    err.write.reset();
    be_guardian(command, options, std::move(alive.read), std::move(reports.write));
  }
  alive.read.reset();
  reports.write.reset();
  err.write.reset();
  Report report;
  if (!read_report(reports.read, report) || report.kind != Report::started) {
    ::waitpid(pid, nullptr, 0);
    end_descendants(options.program_grace);  // of a guardian that was killed in between
    guarded.start_errno = report.value != 0 ? report.value : ECHILD;
    guarded.start_error =
        report.value != 0 ? std::strerror(report.value) : "its process guard, ddlrun-guard, was killed";
    return guarded;
  }
  guarded.guardian = pid;
  guarded.program = report.value;
  guarded.alive = std::move(alive.write);
  guarded.reports = std::move(reports.read);
  guarded.err = std::move(err.read);
  if (guarded.err.open()) {
    ::fcntl(guarded.err.get(), F_SETFL, O_NONBLOCK);
    // mpirun drops at its end what its stderr does not take at once.
    ::fcntl(guarded.err.get(), F_SETPIPE_SZ, 1 << 20);
  }
  return guarded;
}

void terminate_guarded(Guarded& guarded) {
  if (!guarded.alive.open()) return;
  [[maybe_unused]] const ssize_t n = ::write(guarded.alive.get(), "", 1);
  guarded.alive.reset();
}

ProcessResult take_end(Guarded& guarded, const GuardianOptions& options) {
  ProcessResult result;
  Report report;
  if (read_report(guarded.reports, report)) {
    result.exit_status = report.value;
    result.signal = report.signal;
    return result;
  }
  // Let go of, or somebody killed the guardian: what it kept is ours now.
  wait_until_dead(guarded.guardian);
  const Process program = read_process(guarded.program);
  const bool ours = program.parent == ::getpid();
  // The kernel has sent it TERM, as its parent is dead.
  if (ours && options.program_grace.count() > 0) wait_or_kill(program.id, options.program_grace);
  end_descendants(options.program_grace.count() > 0 ? options.leftover_grace : milliseconds(0));
  if (options.after_all) options.after_all(guarded.program);
  result.signal = result.forwarded_signal = SIGKILL;
  result.exit_status = 128 + SIGKILL;
  result.guard_was_killed = true;
  if (options.on_end) options.on_end(result);
  return result;
}

}  // namespace ddlrun
