// SPDX-License-Identifier: MIT
#include "base/process/posix_output_forwarder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

constexpr std::size_t one_write = 4096;  // PIPE_BUF: never torn, never mixed with another's
constexpr std::size_t one_read = 32 << 10;
constexpr int large_pipe = 512 << 10;
constexpr int hold_ms = 2;
constexpr int gather_ms = 20;
constexpr int backlog = 32 << 10;
constexpr std::size_t little = 8 << 10;
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

OutputRelay::OutputRelay(RelayMark mark, bool only_err) : mark_(std::move(mark)) {
  Pipe out = only_err ? Pipe{} : open_stream(STDOUT_FILENO), err = open_stream(STDERR_FILENO);
  out_ = {std::move(out.read), std::move(out.write), STDOUT_FILENO, only_err};
  err_ = {std::move(err.read), std::move(err.write), STDERR_FILENO};
  capacity_ = std::max(0, ::fcntl(STDERR_FILENO, F_SETPIPE_SZ, large_pipe));
}

// Half of the pipe is kept for the end. A launcher that ends a job looks away for seconds and then reads only
// what stands in the pipe: all that the program has written must fit into it by then.
bool OutputRelay::must_hold_back() const {
  return !ending_ && capacity_ >= large_pipe && unread() > capacity_ / 2;
}

int OutputRelay::unread() const {
  int bytes = 0;
  return ::ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0 ? bytes : 0;
}

// While the reader pauses, the portions grow: short lines would fill the pipe with
// texts that are mostly padding.
int OutputRelay::rest_ms() const {
  if (ending_ || !little_read_ || unread() < backlog) return 0;
  const auto since = std::chrono::steady_clock::now() - last_read_;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  return static_cast<int>(std::max<long long>(gather_ms - passed, 0));
}

void OutputRelay::close_ends() {
  out_.end.reset();
  err_.end.reset();
}

int OutputRelay::add_polls(std::vector<pollfd>& polls) const {
  if (!waiting_.empty()) {
    const bool hold = must_hold_back();
    if (!hold) polls.push_back({STDERR_FILENO, POLLOUT, 0});
    return hold ? hold_ms : -1;
  }
  if (const int rest = rest_ms(); rest > 0) return rest;
  for (const Source* source : {&out_, &err_}) {
    if (source->fd.open()) polls.push_back({source->fd.get(), POLLIN, 0});
  }
  return -1;
}

bool OutputRelay::read_some() {
  if (rest_ms() > 0) return false;
  std::size_t bytes_read = 0;
  for (Source* source : {&out_, &err_}) {
    const auto take = [&](std::string_view bytes) {
      bytes_read += bytes.size();
      waiting_ += mark_(source->stream, bytes);
    };
    drain(source->fd, take, one_read);
    if (source->fd.open() || source->end_reported) continue;
    source->end_reported = true;
    waiting_ += mark_(source->stream, {});
  }
  little_read_ = bytes_read < little;
  last_read_ = std::chrono::steady_clock::now();
  return !waiting_.empty();
}

// False where it would have to wait.
bool OutputRelay::write_some() {
  while (written_ < waiting_.size()) {
    if (must_hold_back()) return false;
    pollfd err{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&err, 1, 0) != 1) return false;
    if ((err.revents & (POLLERR | POLLNVAL)) != 0) {
      close_streams();
      return true;
    }
    const std::size_t length = std::min(one_write, waiting_.size() - written_);
    const ssize_t n = ::write(STDERR_FILENO, waiting_.data() + written_, length);
    if (n < 0 && errno == EPIPE) {
      close_streams();
      return true;
    }
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      break;  // a full disk: the text is lost, the program goes on
    if (n > 0) written_ += static_cast<std::size_t>(n);
  }
  waiting_.clear();
  written_ = 0;
  return true;
}

// The reader is gone: the program gets SIGPIPE, as without the forwarder.
void OutputRelay::close_streams() {
  out_.fd.reset();
  err_.fd.reset();
  out_.end_reported = err_.end_reported = true;
  waiting_.clear();
  written_ = 0;
}

void OutputRelay::forward_some() {
  for (int turn = 0; turn < turns; ++turn) {
    if (!write_some() || !read_some()) return;
  }
}

void OutputRelay::finish(const Fd& alive) {
  using Steady = std::chrono::steady_clock;
  auto closed_at = Steady::time_point::max();
  int reads = 0;
  ending_ = true;
  while (true) {
    if (write_some() && (++reads > most_reads || !read_some())) return;
    if (waiting_.empty()) continue;
    pollfd other{alive.get(), POLLIN, 0};
    const auto now = Steady::now();
    if (closed_at == Steady::time_point::max() && ::poll(&other, 1, 0) == 1) closed_at = now;
    if (closed_at != Steady::time_point::max() && now - closed_at > std::chrono::seconds(2))
      return close_streams();
    pollfd err{STDERR_FILENO, POLLOUT, 0};
    ::poll(&err, 1, 200);
  }
}

}  // namespace ddlrun
