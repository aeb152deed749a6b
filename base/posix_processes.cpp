// SPDX-License-Identifier: MIT
#include "base/posix_descendants.hpp"
#include "base/posix_doors.hpp"
#include "base/posix_guardian.hpp"
#include "base/posix_spawn.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

using Time = std::chrono::steady_clock::time_point;

// Reads what is there; closes the descriptor at its end. `take` gets the bytes.
template <typename Take>
void drain(Fd& fd, const Take& take) {
  std::array<char, 1 << 16> buffer;
  while (fd.open()) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n > 0) {
      take(std::string_view(buffer.data(), static_cast<std::size_t>(n)));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.reset();
    }
  }
}

// One captured child on its way from start to result.
class Capture {
 public:
  Capture(const Command& command, const ProcessLimits& limits) : limits_(limits) {
    SpawnOptions options;
    options.limits = limits;
    child_ = spawn_child(command, options);
    result_.start_error = child_.start_error;
    if (!result_.start_error.empty()) result_.exit_status = 127;
    done_ = child_.pid < 0;
    if (limits.timeout.count() > 0) deadline_ = std::chrono::steady_clock::now() + limits.timeout;
  }

  bool done() const { return done_; }
  Time deadline() const { return deadline_; }
  ProcessResult take() { return std::move(result_); }

  void add_polls(std::vector<pollfd>& polls) const {
    for (const Fd* fd : {&child_.out, &child_.err, &child_.pidfd}) {
      if (fd->open()) polls.push_back({fd->get(), POLLIN, 0});
    }
  }

  // Takes what is ready. The child's end finishes it even if a grandchild still holds a pipe.
  void advance(Time now) {
    read_streams();
    pollfd ended{child_.pidfd.get(), POLLIN, 0};
    if (::poll(&ended, 1, 0) == 1) {
      read_streams();
      reap_child(child_.pid, result_);
      if (result_.timed_out) result_.exit_status = 124;
      done_ = true;
      return;
    }
    if (now < deadline_) return;
    ::kill(-child_.pid, result_.timed_out ? SIGKILL : SIGTERM);
    result_.timed_out = true;
    deadline_ = now + std::chrono::milliseconds(500);
  }

 private:
  void read_streams() {
    drain(child_.out, [&](std::string_view bytes) { append(result_.out, bytes); });
    drain(child_.err, [&](std::string_view bytes) { append(result_.err, bytes); });
  }

  void append(std::string& stream, std::string_view bytes) {
    const std::size_t room =
        limits_.output_bytes - std::min<std::size_t>(limits_.output_bytes, stream.size());
    if (bytes.size() > room) result_.truncated = true;
    stream.append(bytes.substr(0, room));
  }

  ProcessLimits limits_;
  Child child_;
  ProcessResult result_;
  Time deadline_ = Time::max();
  bool done_ = false;
};

constexpr int unfinished_line_ms = 100;

int milliseconds_until(Time deadline, Time now) {
  if (deadline == Time::max()) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

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
  SignalRelay() {
    ::sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) ::sigaddset(&set_, signal);
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

  // The last signal that came, or 0.
  int pass_on(pid_t pid) const {
    int last = 0;
    signalfd_siginfo info{};
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      // A key press reaches the whole foreground group, so the child has it already.
      const bool from_keyboard = info.ssi_code == SI_KERNEL;
      if (!from_keyboard) ::kill(pid, static_cast<int>(info.ssi_signo));
      last = static_cast<int>(info.ssi_signo);
    }
    return last;
  }

 private:
  sigset_t set_{}, before_{};
  Fd fd_;
};

}  // namespace

ProcessResult PosixProcesses::run(const Command& command, const ProcessLimits& limits) {
  return std::move(run_many({&command, 1}, limits, 1).front());
}

std::vector<ProcessResult> PosixProcesses::run_many(std::span<const Command> commands,
                                                    const ProcessLimits& limits, unsigned window) {
  std::vector<ProcessResult> results(commands.size());
  std::vector<std::pair<std::size_t, Capture>> active;
  std::size_t next = 0;
  while (next < commands.size() || !active.empty()) {
    while (next < commands.size() && active.size() < std::max(1u, window)) {
      active.emplace_back(next, Capture(commands[next], limits));
      ++next;
    }
    std::vector<pollfd> polls;
    Time deadline = Time::max();
    bool waiting = true;
    for (const auto& [index, capture] : active) {
      if (capture.done()) waiting = false;
      capture.add_polls(polls);
      deadline = std::min(deadline, capture.deadline());
    }
    if (waiting) {
      ::poll(polls.data(), polls.size(), milliseconds_until(deadline, std::chrono::steady_clock::now()));
    }
    const Time now = std::chrono::steady_clock::now();
    for (auto& [index, capture] : active) {
      if (!capture.done()) capture.advance(now);
      if (capture.done()) results[index] = capture.take();
    }
    std::erase_if(active, [](const auto& entry) { return entry.second.done(); });
  }
  return results;
}

ProcessResult PosixProcesses::run_attached(const Command& command, const EnvVars& extra,
                                           const LineSink& err_lines) {
  const SignalRelay signals;  // before the fork: no signal is lost in between
  SpawnOptions options;
  options.out = Stream::inherit;
  options.err = err_lines ? Stream::pipe : Stream::inherit;
  options.own_group = false;
  options.empty_stdin = false;
  options.extra = extra;
  Child child = spawn_child(command, options);
  ProcessResult result;
  result.start_error = child.start_error;
  if (child.pid < 0) {
    result.exit_status = 127;
    return result;
  }
  LineCutter lines(err_lines);
  const auto feed = [&](std::string_view bytes) { lines.feed(bytes); };
  while (true) {
    std::array<pollfd, 3> polls{
        {{child.pidfd.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {child.err.get(), POLLIN, 0}}};
    const int ready = ::poll(polls.data(), polls.size(), lines.holds_some() ? unfinished_line_ms : -1);
    if (ready == 0) lines.flush();  // a prompt or a progress bar, which people wait for
    if (ready <= 0) continue;
    if (const int signal = signals.pass_on(child.pid); signal != 0) result.passed_on = signal;
    drain(child.err, feed);
    if ((polls[0].revents & POLLIN) == 0) continue;
    drain(child.err, feed);
    reap_child(child.pid, result);
    return result;
  }
}

namespace {

constexpr int tick_ms = 500;

std::vector<std::string> names_below(pid_t parent) {
  std::vector<std::string> names;
  for (const ProcessStat& stat : find_descendants(parent)) {
    if (stat.parent == parent && stat.state != 'Z') names.push_back(stat.name);
  }
  return names;
}

}  // namespace

ProcessResult PosixProcesses::run_guarded(const Command& command, const EnvVars& extra,
                                          const Attention& attention) {
  const SignalRelay signals;  // before the fork: no signal is lost in between
  GuardianOptions options;
  options.capture_err = static_cast<bool>(attention.err_lines);
  options.extra = extra;
  options.kill_first = true;
  Guarded guarded = start_guarded(command, options);
  ProcessResult result;
  result.start_error = guarded.start_error;
  if (guarded.program < 0) {
    result.exit_status = 127;
    return result;
  }
  LineCutter lines(attention.err_lines);
  const auto feed = [&](std::string_view bytes) { lines.feed(bytes); };
  int passed_on = 0;
  Time next_tick = std::chrono::steady_clock::now();
  while (true) {
    std::array<pollfd, 3> polls{
        {{guarded.reports.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}, {guarded.err.get(), POLLIN, 0}}};
    const int ready = ::poll(polls.data(), polls.size(), lines.holds_some() ? unfinished_line_ms : tick_ms);
    if (ready == 0) lines.flush();
    if (const int signal = signals.pass_on(guarded.program); signal != 0) passed_on = signal;
    drain(guarded.err, feed);
    if (const Time now = std::chrono::steady_clock::now(); attention.tick && now >= next_tick) {
      next_tick = now + std::chrono::milliseconds(tick_ms);
      if (const int signal = attention.tick(names_below(guarded.program)); signal != 0)
        ::kill(guarded.program, signal);
    }
    if (ready <= 0 || polls[0].revents == 0) continue;
    result = take_end(guarded, options);
    drain(guarded.err, feed);
    ::waitpid(guarded.guardian, nullptr, 0);  // it ends what is left
    result.passed_on = passed_on;
    return result;
  }
}

}  // namespace ddlrun
