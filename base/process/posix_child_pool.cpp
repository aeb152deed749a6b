// SPDX-License-Identifier: MIT
#include "base/process/posix_child_pool.hpp"

#include "base/process/posix_process_tree.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

constexpr std::size_t own_write_bytes = 4096;  // what a pipe with room takes without waiting
constexpr auto stream_patience = std::chrono::milliseconds(1000);
constexpr auto ended_tick = std::chrono::milliseconds(20);

bool takes_some(int stream) {
  pollfd ready{stream, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1;
}

}  // namespace

PosixChildPool::PosixChildPool() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t mine;
  ::sigemptyset(&mine);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) ::sigaddset(&mine, signal);
  ::sigprocmask(SIG_BLOCK, &mine, &before_);
  signals_ = Fd(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
}

PosixChildPool::~PosixChildPool() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

std::size_t PosixChildPool::start(const ChildSpec& wanted) {
  SpawnOptions options;
  options.pipe_stdin = wanted.has_stdin;
  options.extra = wanted.extra;
  options.prepare = wanted.prepare;
  Member& member = members_[next_];
  member.child = spawn_child(wanted.command, options);
  if (member.child.pid < 0) {
    member.has_ended = true;
    member.end.start_error = member.child.start_error;
    member.end.exit_status = 127;
    member.streams_deadline = Clock::now();
  }
  return next_++;
}

void PosixChildPool::write_stdin(std::size_t number, std::string_view bytes) {
  const auto found = members_.find(number);
  if (found == members_.end() || !found->second.child.in.open() || bytes.empty()) return;
  found->second.pending_in.emplace_back(bytes);
  write_pending(found->second);
}

void PosixChildPool::close_input(std::size_t number) {
  const auto found = members_.find(number);
  if (found == members_.end()) return;
  found->second.close_after = true;
  write_pending(found->second);
}

std::size_t PosixChildPool::pending_in(std::size_t number) const {
  const auto found = members_.find(number);
  std::size_t bytes = 0;
  if (found == members_.end()) return bytes;
  for (const std::string& part : found->second.pending_in) bytes += part.size();
  return bytes - found->second.written;
}

void PosixChildPool::signal(std::size_t number, int signal) {
  const auto found = members_.find(number);
  // Not once it is reaped: the number of its group may be somebody else's by then.
  if (found == members_.end() || found->second.has_ended) return;
  ::kill(-found->second.child.pid, signal);
}

void PosixChildPool::write_output(int stream, std::string_view bytes) {
  if (bytes.empty()) return;
  if (!output_queue_.empty() && output_queue_.back().first == stream)
    output_queue_.back().second += bytes;
  else
    output_queue_.emplace_back(stream, bytes);
  write_own();
}

std::size_t PosixChildPool::pending_out() const {
  std::size_t bytes = 0;
  for (const auto& [stream, text] : output_queue_) bytes += text.size();
  return bytes - written_;
}

void PosixChildPool::write_own() {
  while (!output_queue_.empty() && takes_some(output_queue_.front().first)) {
    const auto& [stream, text] = output_queue_.front();
    const ssize_t n =
        ::write(stream, text.data() + written_, std::min(own_write_bytes, text.size() - written_));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    // A full disk loses the text only; without a reader the job ends, as any program in a pipe.
    if (n < 0) lost_ = lost_ || (stream == STDOUT_FILENO && errno == EPIPE);
    written_ = n < 0 ? text.size() : written_ + static_cast<std::size_t>(n);
    if (written_ < text.size()) continue;
    output_queue_.pop_front();
    written_ = 0;
  }
}

void PosixChildPool::write_pending(Member& member) {
  while (member.child.in.open() && !member.pending_in.empty()) {
    const std::string& part = member.pending_in.front();
    const ssize_t n =
        ::write(member.child.in.get(), part.data() + member.written, part.size() - member.written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {  // it reads no more
      member.child.in.reset();
      break;
    }
    member.written += static_cast<std::size_t>(n);
    if (member.written < part.size()) continue;
    member.pending_in.pop_front();
    member.written = 0;
  }
  if (!member.child.in.open()) {
    member.pending_in.clear();
    member.written = 0;
  } else if (member.close_after) {
    member.child.in.reset();
  }
}

std::vector<PosixChildPool::Look> PosixChildPool::looks() {
  std::vector<Look> looks;
  for (auto& [number, member] : members_) {
    if (!member.has_ended) looks.push_back({number, &member, nullptr, POLLIN, member.child.pidfd.get()});
    if (!member.pending_in.empty())
      looks.push_back({number, &member, nullptr, POLLOUT, member.child.in.get()});
    for (Fd* fd : {&member.child.out, &member.child.err}) {
      if (fd->open() && reads_members) looks.push_back({number, &member, fd, POLLIN, fd->get()});
    }
  }
  return looks;
}

// A portion at a time, so that a loud one does not keep us from the others.
void PosixChildPool::read(const Look& look, const ChildCallbacks& callbacks) {
  std::array<char, 1 << 16> buffer;
  const ssize_t n = ::read(look.stream->get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return look.stream->reset();
  const auto& callback = look.stream == &look.member->child.out ? callbacks.out : callbacks.err;
  callback(look.number, {buffer.data(), static_cast<std::size_t>(n)});
}

void PosixChildPool::take_end(Member& member) {
  reap_child(member.child.pid, member.end);
  member.has_ended = true;
  member.child.in.reset();
  member.pending_in.clear();
  member.streams_deadline = Clock::now() + stream_patience;
}

void PosixChildPool::read_signals(const ChildCallbacks& callbacks) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (callbacks.signal) callbacks.signal(static_cast<int>(info.ssi_signo));
  }
}

void PosixChildPool::read_own_input(const ChildCallbacks& callbacks) {
  if (!reads_input || input_ended_) return;
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  if (::poll(&ready, 1, 0) != 1) return;
  std::array<char, 1 << 16> buffer;
  const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  input_ended_ = n <= 0;
  if (callbacks.input) callbacks.input({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
}

void PosixChildPool::wait(std::chrono::milliseconds limit, const ChildCallbacks& callbacks) {
  std::vector<pollfd> polls{{signals_.get(), POLLIN, 0}};
  if (reads_input && !input_ended_) polls.push_back({STDIN_FILENO, POLLIN, 0});
  if (!output_queue_.empty()) polls.push_back({output_queue_.front().first, POLLOUT, 0});
  const std::size_t first = polls.size();
  const std::vector<Look> looks = this->looks();
  for (const Look& look : looks) {
    polls.push_back({look.fd, look.events, 0});
    if (look.member->has_ended) limit = std::min(limit, ended_tick);
  }
  ::poll(polls.data(), polls.size(), static_cast<int>(limit.count()));
  read_signals(callbacks);
  read_own_input(callbacks);
  write_own();
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const Look& look = looks[i];
    if (polls[first + i].revents == 0) continue;
    if (look.stream != nullptr)
      read(look, callbacks);
    else if (look.events == POLLOUT)
      write_pending(*look.member);
    else
      take_end(*look.member);
  }
  report_ends(callbacks);
}

void PosixChildPool::report_ends(const ChildCallbacks& callbacks) {
  std::vector<std::size_t> done;
  for (const auto& [number, member] : members_) {
    if (!member.has_ended) continue;
    const bool silent = !member.child.out.open() && !member.child.err.open();
    if (silent || (reads_members && Clock::now() >= member.streams_deadline)) done.push_back(number);
  }
  for (const std::size_t number : done) {
    const ProcessResult end = std::move(members_.at(number).end);
    members_.erase(number);
    callbacks.ended(number, end);
  }
}

void PosixChildPool::end_leftovers(std::chrono::milliseconds grace) { end_descendants(grace); }

bool PosixChildPool::allow_descriptors(std::size_t count) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return true;
  limit.rlim_cur = std::min<rlim_t>(count, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= count;
}

}  // namespace ddlrun
