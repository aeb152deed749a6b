// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"
#include "base/process/posix_keyboard_shield.hpp"
#include "base/process/posix_process_guard.hpp"
#include "base/process/posix_process_tree.hpp"
#include "base/process/posix_spawn.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

using Time = std::chrono::steady_clock::time_point;

constexpr int unfinished_line_ms = 100;

// Cuts a byte stream into lines and hands each on with its newline.
class LineCutter {
 public:
  explicit LineCutter(const LineSink& sink) : sink_(sink) {}
  ~LineCutter() { flush(); }
  LineCutter(const LineCutter&) = delete;
  LineCutter& operator=(const LineCutter&) = delete;

  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      rest_.append(bytes.substr(0, end == std::string_view::npos ? end : end + 1));
      // A line without end is passed on in pieces: memory stays bounded.
      if (end == std::string_view::npos && rest_.size() < max_line) return;
      sink_(rest_);
      rest_.clear();
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
    }
  }

  bool holds_some() const { return !rest_.empty(); }
  void flush() {
    if (!rest_.empty()) sink_(rest_);
    rest_.clear();
  }

 private:
  static constexpr std::size_t max_line = 64 * 1024;
  const LineSink& sink_;
  std::string rest_;
};

// The signals a launcher passes on, blocked here while it lives and read from a descriptor.
class SignalRelay {
 public:
  // `shielded`: the keys of the terminal signal us alone, as the child is in another process group.
  explicit SignalRelay(bool shielded) : shielded_(shielded) {
    ::sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2}) ::sigaddset(&set_, signal);
    // Under nohup it is ignored; where it is blocked, the kernel would queue it nevertheless.
    struct sigaction hangup {};
    const bool is_ignored = ::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaddset(&set_, SIGHUP);
    takes_hangup_ = ::getsid(0) == ::getpid() && !is_ignored;
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_ = Fd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~SignalRelay() {
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    }  // what came after the child's end has been answered by it
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  int fd() const { return fd_.get(); }

  // The last signal that came, or 0. `pid` 0: no process is left; `instead` may be empty.
  int pass_on(pid_t pid, const std::function<int(int signal, bool delivered)>& instead = {}) const {
    int last = 0;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      last = static_cast<int>(info.ssi_signo);
      // A key press reaches the whole foreground group, so an unshielded child has it already. The hangup of
      // a terminal reaches its session's leader only: us, where no shell is in between (ssh -t HOST ddlrun
      // launch).
      const bool from_keyboard = info.ssi_code == SI_KERNEL && !(last == SIGHUP && takes_hangup_);
      const bool delivered = from_keyboard && !shielded_;
      const int wanted = instead && pid != 0 ? instead(last, delivered) : last;
      if (!delivered && pid != 0) ::kill(pid, wanted);
    }
    return last;
  }

 private:
  sigset_t set_{}, before_{};
  bool shielded_;
  bool takes_hangup_ = false;  // as the leader of a session, not under nohup
  Fd fd_;
};

}  // namespace

ProcessResult PosixProcesses::run(const Command& command, const ProcessLimits& limits) {
  return std::move(run_many({&command, 1}, limits, 1).front());
}

std::vector<ProcessResult> PosixProcesses::run_many(std::span<const Command> commands,
                                                    const ProcessLimits& limits, unsigned window) {
  std::vector<ExpectSession> sessions;
  for (const Command& command : commands) sessions.push_back({command, "", {}});
  std::vector<ProcessResult> results(commands.size());
  run_sessions(sessions, limits, {window, window},
               [&](std::size_t index, ProcessResult&& result) { results[index] = std::move(result); });
  return results;
}

namespace {

constexpr int tick_ms = 500;
constexpr std::size_t portion =
    256 << 10;  // of a child that never stops talking: signals and ticks have their turn

std::vector<std::string> names_below(pid_t parent) {
  std::vector<std::string> names;
  for (const Process& process : find_descendants(parent)) {
    if (process.parent == parent && process.state != 'Z') names.push_back(process.name);
  }
  return names;
}

ChildView view_child(pid_t child) {
  ChildView view;
  view.below = names_below(child);
  view.bytes_written = read_bytes_written(child);
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  view.stdout_full = ::poll(&out, 1, 0) == 0;
  const char state = read_process(child).state;
  view.stopped = state == 'T' || state == 't';
  return view;
}

}  // namespace

ProcessResult PosixProcesses::run_guarded(const Command& command, const EnvVars& extra,
                                          const RunHooks& hooks) {
  GuardianOptions options;
  // mpirun 4 gives its ranks 1 s after a signal of its own, too little to save, and prterun 3 none: the ranks
  // get it from us, first.
  options.own_group = may_have_own_group();
  const SignalRelay signals(options.own_group);  // before the fork: no signal is lost in between
  options.capture_err = static_cast<bool>(hooks.on_stderr_line);
  options.extra = extra;
  options.after_all = hooks.after_all;
  // mpirun removes its ranks' shared memory and its session's directory, which takes it a good second.
  options.program_grace = std::chrono::milliseconds(3000);
  Guarded guarded = start_guarded(command, options);
  ProcessResult result;
  result.start_error = guarded.start_error;
  if (guarded.program < 0) {
    result.exit_status = 127;
    result.guard_was_killed = guarded.start_errno == ECHILD;
    return result;
  }
  LineCutter lines(hooks.on_stderr_line);
  const auto feed = [&](std::string_view bytes) { lines.feed(bytes); };
  const auto take_lines = [&](std::size_t most) {
    drain(guarded.err, feed, most);
    if (hooks.after_lines) hooks.after_lines();
  };
  int forwarded_signal = 0;
  Time next_tick = std::chrono::steady_clock::now();
  while (true) {
    std::array<pollfd, 3> polls{
        {{guarded.reports.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {guarded.err.get(), POLLIN, 0}}};
    const int ready = ::poll(polls.data(), polls.size(), lines.holds_some() ? unfinished_line_ms : tick_ms);
    if (ready == 0) lines.flush();
    if (const int signal = signals.pass_on(guarded.program, hooks.on_signal); signal != 0)
      forwarded_signal = signal;
    take_lines(portion);
    if (const Time now = std::chrono::steady_clock::now(); hooks.tick && now >= next_tick) {
      next_tick = now + std::chrono::milliseconds(tick_ms);
      if (const int signal = hooks.tick(view_child(guarded.program)); signal != 0)
        ::kill(guarded.program, signal);
    }
    if (ready <= 0 || polls[0].revents == 0) continue;
    result = take_end(guarded, options);
    take_lines(static_cast<std::size_t>(-1));
    lines.flush();
    if (hooks.after_lines) hooks.after_lines();
    ::waitpid(guarded.guardian, nullptr, 0);  // it ends what is left
    // A scheduler signals all processes at once: those below may have ended before this one gets the signal.
    const int late = signals.pass_on(0);
    if (late != 0 && result.exit_status != 0) forwarded_signal = late;
    result.forwarded_signal = forwarded_signal;
    return result;
  }
}

bool PosixProcesses::send_signal(std::uint64_t pid, std::uint64_t started_ticks, int signal) {
  return signal_process({static_cast<pid_t>(pid), started_ticks}, signal);
}

}  // namespace ddlrun
