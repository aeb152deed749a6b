// SPDX-License-Identifier: MIT
#include "base/posix_relay.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace ddlrun {

namespace {

constexpr std::size_t one_write = 4096;  // PIPE_BUF: never torn, never mixed with another's
constexpr std::size_t one_read = 32 << 10;
constexpr int most_reads = 64;  // at the end: what was left behind in a pipe, not what others still write
constexpr int turns = 16;       // of reading and writing before others have theirs

// Both ends of a terminal that changes no byte, or none.
Pipe open_terminal() {
  Fd ours(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!ours.open() || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0 ||
      ::ptsname_r(ours.get(), name.data(), name.size()) != 0)
    return {};
  Fd theirs(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!theirs.open() || ::tcgetattr(theirs.get(), &settings) != 0) return {};
  ::cfmakeraw(&settings);
  ::tcsetattr(theirs.get(), TCSANOW, &settings);
  return {std::move(ours), std::move(theirs)};
}

Pipe open_stream(int stream) {
  Pipe pipe = ::isatty(stream) == 1 ? open_terminal() : Pipe{};
  if (!pipe.read.open()) pipe = make_pipe();
  if (pipe.read.open()) ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

}  // namespace

OutputRelay::OutputRelay(RelayMark mark) : mark_(std::move(mark)) {
  Pipe out = open_stream(STDOUT_FILENO), err = open_stream(STDERR_FILENO);
  out_ = {std::move(out.read), std::move(out.write), STDOUT_FILENO};
  err_ = {std::move(err.read), std::move(err.write), STDERR_FILENO};
}

void OutputRelay::close_ends() {
  out_.end.reset();
  err_.end.reset();
}

void OutputRelay::add_polls(std::vector<pollfd>& polls) const {
  if (!waiting_.empty()) return polls.push_back({STDERR_FILENO, POLLOUT, 0});
  for (const Source* source : {&out_, &err_}) {
    if (source->fd.open()) polls.push_back({source->fd.get(), POLLIN, 0});
  }
}

bool OutputRelay::read_some() {
  for (Source* source : {&out_, &err_}) {
    const auto take = [&](std::string_view bytes) { waiting_ += mark_(source->stream, bytes); };
    drain(source->fd, take, one_read);
    if (source->fd.open() || source->told_end) continue;
    source->told_end = true;
    waiting_ += mark_(source->stream, {});
  }
  return !waiting_.empty();
}

// False where it would have to wait.
bool OutputRelay::write_some() {
  while (written_ < waiting_.size()) {
    pollfd err{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&err, 1, 0) != 1) return false;
    if ((err.revents & (POLLERR | POLLNVAL)) != 0) {
      give_up();
      return true;
    }
    const std::size_t length = std::min(one_write, waiting_.size() - written_);
    const ssize_t n = ::write(STDERR_FILENO, waiting_.data() + written_, length);
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      give_up();
      return true;
    }
    if (n > 0) written_ += static_cast<std::size_t>(n);
  }
  waiting_.clear();
  written_ = 0;
  return true;
}

// Nobody reads: the program learns it as it would have without us.
void OutputRelay::give_up() {
  out_.fd.reset();
  err_.fd.reset();
  out_.told_end = err_.told_end = true;
  waiting_.clear();
  written_ = 0;
}

void OutputRelay::serve() {
  for (int turn = 0; turn < turns; ++turn) {
    if (!write_some() || !read_some()) return;
  }
}

void OutputRelay::finish(const Fd& alive) {
  using Steady = std::chrono::steady_clock;
  auto closed_at = Steady::time_point::max();
  int reads = 0;
  while (true) {
    if (write_some() && (++reads > most_reads || !read_some())) return;
    if (waiting_.empty()) continue;
    pollfd other{alive.get(), POLLIN, 0};
    const auto now = Steady::now();
    if (closed_at == Steady::time_point::max() && ::poll(&other, 1, 0) == 1) closed_at = now;
    if (closed_at != Steady::time_point::max() && now - closed_at > std::chrono::seconds(2)) return give_up();
    pollfd err{STDERR_FILENO, POLLOUT, 0};
    ::poll(&err, 1, 200);
  }
}

}  // namespace ddlrun
