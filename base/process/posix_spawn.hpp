// SPDX-License-Identifier: MIT
// One child process with its pipes: the part that captured and guarded runs share.
#pragma once

#include "base/os/system.hpp"

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

namespace ddlrun {

// A descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void reset();
  int release();

 private:
  int fd_ = -1;
};

// Gives what there is to read to `take`, in portions, and stops after about `most` bytes; closes the
// descriptor at its end.
void drain(Fd& fd, const std::function<void(std::string_view bytes)>& take,
           std::size_t most = static_cast<std::size_t>(-1));

struct Pipe {
  Fd read, write;
};
Pipe make_pipe();  // closed on exec

enum class Stream { inherit, pipe };

struct SpawnOptions {
  Stream out = Stream::pipe;
  Stream err = Stream::pipe;
  bool own_group = true;  // a process group of its own, so that a time limit can end all of it
  bool empty_stdin = true;
  bool pipe_stdin = false;  // instead: Child::in is our end
  int given_in = -1;        // instead of a pipe or ours; stays open here
  int given_out = -1;
  int given_err = -1;
  ProcessLimits limits;
  EnvVars extra;
  std::function<bool()> prepare =
      {};  // in the child, with its streams, before it becomes the command; false: ends with 126
};

// A started child. Its death signal is SIGTERM: it does not outlive us.
struct Child {
  pid_t pid = -1;
  Fd pidfd;                 // readable when it has ended
  Fd in, out, err;          // our ends, non-blocking; closed where inherited
  std::string start_error;  // why there is no child
  int start_errno = 0;
};

Child spawn_child(const Command& command, const SpawnOptions& options);

// A child of this very program that runs `body` and ends with what it returns; both streams are pipes.
Child fork_child(const std::function<int()>& body);

// Collects the ended child into exit_status and signal.
void reap_child(pid_t pid, ProcessResult& result);

}  // namespace ddlrun
