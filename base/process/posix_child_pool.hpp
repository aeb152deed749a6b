// SPDX-License-Identifier: MIT
// Children that live for as long as a job: all of them spoken to and listened to at once, beside our own
// streams and signals. What `ddlrun ssh-launch` and `ssh-daemon` wait in. Linux only.
#pragma once

#include "base/process/posix_spawn.hpp"

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun {

struct ChildSpec {
  Command command;
  EnvVars extra;           // added to its environment
  bool has_stdin = false;  // its stdin is ours to write; else it is empty
  // In the child, before it becomes the command: its stderr is read; false ends it with 126.
  std::function<bool()> prepare;
};

// Called with output, ends and signals. A child that could not be started ends too, with `start_error`.
struct ChildCallbacks {
  std::function<void(std::size_t member, std::string_view bytes)> out, err;
  std::function<void(std::size_t member, const ProcessResult& end)> ended;  // after all of its output
  std::function<void(std::string_view bytes)> input;                        // our own stdin; "" is its end
  std::function<void(int signal)> signal;                                   // to us
};

class ChildPool {
 public:
  using Steady = std::chrono::steady_clock;

  // From here on this process takes its signals by ChildCallbacks, and is a subreaper: what its members leave
  // behind comes to it.
  ChildPool();
  ~ChildPool();
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  // Each member leads a process group of its own. Returns its number, ascending from 0.
  std::size_t start(const ChildSpec& member);
  void write_stdin(std::size_t member, std::string_view bytes);  // to its stdin; dropped where that is closed
  void close_input(std::size_t member);                          // once all that was said is written
  std::size_t pending_in(std::size_t member) const;              // bytes that wait
  void signal(std::size_t member, int signal) const;             // to its group
  std::size_t alive() const { return members_.size(); }

  void write_output(int stream, std::string_view bytes);  // to our own stdout or stderr
  std::size_t pending_out() const;
  bool output_closed() const { return lost_; }  // the reader of our stdout is gone

  bool reads_members = true;  // false: their output stays in their pipes
  bool reads_input = false;   // our own stdin is read

  // Waits for events, at most `limit`, and calls back.
  void wait(std::chrono::milliseconds limit, const ChildCallbacks& callbacks);

 private:
  struct Member {
    Child child;
    std::deque<std::string> pending_in;
    std::size_t written = 0;  // bytes of the first part
    bool close_after = false;
    bool has_ended = false;
    ProcessResult end;
    Steady::time_point give_up;  // after this, processes that hold its streams are not waited for
  };

  // One descriptor of a member's that is waited for; without `stream` its end, or room to speak.
  struct Look {
    std::size_t number = 0;
    Member* member = nullptr;
    Fd* stream = nullptr;
    short events = 0;
    int fd = -1;
  };

  std::vector<Look> looks();
  void read(const Look& look, const ChildCallbacks& callbacks);
  static void take_end(Member& member);
  void report_ends(const ChildCallbacks& callbacks);
  static void write_pending(Member& member);
  void read_signals(const ChildCallbacks& callbacks);
  void read_own_input(const ChildCallbacks& callbacks);
  void write_own();

  std::map<std::size_t, Member> members_;
  std::size_t next_ = 0;
  std::deque<std::pair<int, std::string>> output_queue_;  // in their order: both may be one terminal
  std::size_t written_ = 0;                               // of the first one
  sigset_t before_{};
  Fd signals_;
  bool input_ended_ = false;
  bool lost_ = false;
};

// Room for so many descriptors; false where the system allows fewer.
bool allow_descriptors(std::size_t count);

}  // namespace ddlrun
