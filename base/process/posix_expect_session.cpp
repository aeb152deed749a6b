// SPDX-License-Identifier: MIT
// Children that are spoken to, many at once, and functions in children of their own.
#include "base/os/posix_system.hpp"
#include "base/process/posix_spawn.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>

namespace ddlrun {

namespace {

using Steady = std::chrono::steady_clock;

constexpr auto term_grace = std::chrono::milliseconds(500);  // from TERM to KILL, and from KILL to giving up

// Writing to a child that has just ended must not end us.
class IgnoredPipeSignal {
 public:
  IgnoredPipeSignal() : before_(::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredPipeSignal() { ::signal(SIGPIPE, before_); }
  IgnoredPipeSignal(const IgnoredPipeSignal&) = delete;
  IgnoredPipeSignal& operator=(const IgnoredPipeSignal&) = delete;

 private:
  void (*before_)(int);
};

// One child from its start to its result.
class Talk {
 public:
  Talk(Child child, const ProcessLimits& limits, std::span<const Exchange> replies)
      : limits_(limits), child_(std::move(child)), start_(Steady::now()) {
    for (const Exchange& reply : replies) open_replies_.push_back(&reply);
    result_.start_error = child_.start_error;
    if (child_.pid < 0) {
      result_.exit_status = 127;
      done_ = true;
    }
    if (limits.timeout.count() > 0) deadline_ = start_ + limits.timeout;
    note_output();
  }

  bool done() const { return done_; }
  Steady::time_point deadline() const { return std::min(deadline_, silent_deadline_); }
  ProcessResult take() {
    result_.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - start_);
    return std::move(result_);
  }

  void add_polls(std::vector<pollfd>& polls) const {
    for (const Fd* fd : {&child_.out, &child_.err, &child_.pidfd}) {
      if (fd->open()) polls.push_back({fd->get(), POLLIN, 0});
    }
    if (child_.in.open() && !unwritten_.empty()) polls.push_back({child_.in.get(), POLLOUT, 0});
  }

  void advance(Steady::time_point now) {
    read_output();
    write_replies();
    pollfd ended{child_.pidfd.get(), POLLIN, 0};
    if (::poll(&ended, 1, 0) == 1) {
      read_output();
      reap_child(child_.pid, result_);
      if (result_.timed_out) result_.exit_status = 124;
      done_ = true;
    } else if (now >= deadline()) {
      end_it(now);
    }
  }

 private:
  // TERM, then KILL, then leave it: a process in the kernel's hands (a dead mount) never ends.
  void end_it(Steady::time_point now) {
    result_.timed_out = true;
    result_.exit_status = 124;
    if (signals_sent_ == 2) {
      done_ = true;
      return;
    }
    ::kill(-child_.pid, signals_sent_ == 0 ? SIGTERM : SIGKILL);
    ++signals_sent_;
    deadline_ = now + term_grace;
    silent_deadline_ = Steady::time_point::max();
  }

  void read_output() {
    drain(child_.out, [&](std::string_view bytes) { append(result_.out, bytes); });
    drain(child_.err, [&](std::string_view bytes) { append(result_.err, bytes); });
    answer_new_lines();
  }

  void note_output() {
    if (limits_.silence.count() > 0 && signals_sent_ == 0) silent_deadline_ = Steady::now() + limits_.silence;
  }

  void append(std::string& stream, std::string_view bytes) {
    note_output();
    const std::size_t room =
        limits_.output_bytes - std::min<std::size_t>(limits_.output_bytes, stream.size());
    if (bytes.size() > room) result_.truncated = true;
    stream.append(bytes.substr(0, room));
  }

  void answer_new_lines() {
    while (!open_replies_.empty()) {
      const std::size_t end = result_.out.find('\n', seen_);
      if (end == std::string::npos) return;
      std::string_view line(result_.out.data() + seen_, end - seen_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      seen_ = end + 1;
      const auto reply = std::find_if(open_replies_.begin(), open_replies_.end(),
                                      [&](const Exchange* open) { return open->after == line; });
      if (reply != open_replies_.end()) give(reply);
    }
  }

  void give(std::vector<const Exchange*>::iterator reply) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - start_);
    result_.replied.push_back({(*reply)->after, since, std::chrono::system_clock::now()});
    unwritten_.push_back({(*reply)->input, 0});
    close_after_ = close_after_ || (*reply)->then_close;
    open_replies_.erase(reply);
    write_replies();
  }

  void write_replies() {
    while (child_.in.open() && !unwritten_.empty()) {
      auto& [bytes, written] = unwritten_.front();
      const ssize_t n = ::write(child_.in.get(), bytes->data() + written, bytes->size() - written);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return child_.in.reset();
      written += static_cast<std::size_t>(n);
      if (written == bytes->size()) unwritten_.pop_front();
    }
    if (unwritten_.empty() && (close_after_ || open_replies_.empty())) child_.in.reset();
  }

  struct Saying {
    std::shared_ptr<const std::string> bytes;
    std::size_t written = 0;
  };

  ProcessLimits limits_;
  Child child_;
  ProcessResult result_;
  std::vector<const Exchange*> open_replies_;
  std::deque<Saying> unwritten_;
  Steady::time_point start_;
  Steady::time_point deadline_ = Steady::time_point::max();
  Steady::time_point silent_deadline_ = Steady::time_point::max();
  std::size_t seen_ = 0;  // stdout is searched for replies up to here
  int signals_sent_ = 0;
  bool close_after_ = false;
  bool done_ = false;
};

// Waits until one of the children has something, or a deadline comes, and lets those advance.
template <typename Talks>
void advance_all(Talks& talks) {
  std::vector<pollfd> polls;
  std::vector<std::size_t> ends;  // of each child's part of `polls`
  auto deadline = Steady::time_point::max();
  bool one_is_done = false;
  for (auto& [index, talk] : talks) {
    one_is_done = one_is_done || talk.done();
    talk.add_polls(polls);
    ends.push_back(polls.size());
    deadline = std::min(deadline, talk.deadline());
  }
  int wait_ms = -1;
  if (deadline != Steady::time_point::max()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
    wait_ms = static_cast<int>(std::clamp<long long>(left + 1, 0, 60'000));
  }
  if (!one_is_done) ::poll(polls.data(), polls.size(), wait_ms);
  const auto now = Steady::now();
  auto part = polls.begin();
  for (std::size_t i = 0; i < talks.size(); ++i) {
    const auto end = polls.begin() + static_cast<std::ptrdiff_t>(ends[i]);
    const bool ready = std::any_of(part, end, [](const pollfd& one) { return one.revents != 0; });
    auto& talk = talks[i].second;
    if (!talk.done() && (ready || now >= talk.deadline())) talk.advance(now);
    part = end;
  }
}

// Which conversation may begin next: the earliest whose target has room.
class Queue {
 public:
  Queue(std::span<const ExpectSession> sessions, unsigned per_target)
      : conversations_(sessions), per_target_(std::max(1u, per_target)) {
    for (std::size_t i = 0; i < sessions.size(); ++i) waiting_.push_back(i);
  }
  bool empty() const { return waiting_.empty(); }
  std::optional<std::size_t> next() {
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      unsigned& active = active_[conversations_[*at].target];
      if (active >= per_target_) continue;
      ++active;
      const std::size_t index = *at;
      waiting_.erase(at);
      return index;
    }
    return std::nullopt;
  }
  void ended(std::size_t index) { --active_[conversations_[index].target]; }

 private:
  std::span<const ExpectSession> conversations_;
  unsigned per_target_;
  std::deque<std::size_t> waiting_;
  std::map<std::string, unsigned> active_;
};

Child start(const ExpectSession& conversation, const ProcessLimits& limits) {
  SpawnOptions options;
  options.limits = limits;
  options.pipe_stdin = !conversation.replies.empty();
  return spawn_child(conversation.command, options);
}

// In the child: its text on stdout, or what it threw on stderr.
int run_body(const ChildFunction& function) {
  try {
    write_all(STDOUT_FILENO, function());
    return 0;
  } catch (const std::exception& error) {
    write_diagnostics(error.what());
    return 70;
  }
}

}  // namespace

void PosixProcesses::run_sessions(std::span<const ExpectSession> sessions, const ProcessLimits& limits,
                                  const SessionWindow& window,
                                  const std::function<void(std::size_t, ProcessResult&&)>& ended) {
  const IgnoredPipeSignal quiet;
  Queue queue(sessions, window.per_target);
  std::deque<std::pair<std::size_t, Talk>> active;
  const auto more = [&] { return !queue.empty() && !(window.enough && window.enough()); };
  while (more() || !active.empty()) {
    while (active.size() < std::max(1u, window.total) && more()) {
      const auto next = queue.next();
      if (!next) break;
      active.emplace_back(*next, Talk(start(sessions[*next], limits), limits, sessions[*next].replies));
    }
    advance_all(active);
    for (auto& [index, talk] : active) {
      if (!talk.done()) continue;
      queue.ended(index);
      ended(index, talk.take());
    }
    std::erase_if(active, [](const auto& entry) { return entry.second.done(); });
  }
}

std::vector<ProcessResult> PosixProcesses::run_functions(
    std::span<const std::pair<ChildFunction, std::chrono::milliseconds>> functions) {
  std::deque<std::pair<std::size_t, Talk>> active;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    ProcessLimits limits;
    limits.timeout = functions[i].second;
    active.emplace_back(i, Talk(fork_child([&] { return run_body(functions[i].first); }), limits, {}));
  }
  std::vector<ProcessResult> results(functions.size());
  while (!active.empty()) {
    advance_all(active);
    for (auto& [index, talk] : active) {
      if (talk.done()) results[index] = talk.take();
    }
    std::erase_if(active, [](const auto& entry) { return entry.second.done(); });
  }
  return results;
}

}  // namespace ddlrun
