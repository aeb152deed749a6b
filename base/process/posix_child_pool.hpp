// SPDX-License-Identifier: MIT
// The child pool of real processes. Linux only.
#pragma once

#include "base/process/child_pool.hpp"
#include "base/process/posix_spawn.hpp"

#include <poll.h>
#include <signal.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun {

class PosixChildPool final : public ChildPool {
 public:
  // From here on this process takes its signals by ChildCallbacks, and is a subreaper: what its members leave
  // behind comes to it.
  PosixChildPool();
  ~PosixChildPool() override;

  std::size_t start(const ChildSpec& member) override;
  void write_stdin(std::size_t member, std::string_view bytes) override;
  void close_input(std::size_t member) override;
  std::size_t pending_in(std::size_t member) const override;
  void signal(std::size_t member, int signal) override;
  std::size_t alive() const override { return members_.size(); }
  void write_output(int stream, std::string_view bytes) override;
  std::size_t pending_out() const override;
  bool output_closed() const override { return lost_; }
  void wait(std::chrono::milliseconds limit, const ChildCallbacks& callbacks) override;
  void end_leftovers(std::chrono::milliseconds grace) override;
  bool allow_descriptors(std::size_t count) override;
  Clock::time_point now() const override { return Clock::now(); }

 private:
  struct Member {
    Child child;
    std::deque<std::string> pending_in;
    std::size_t written = 0;  // bytes of the first part
    bool close_after = false;
    bool has_ended = false;
    ProcessResult end;
    Clock::time_point streams_deadline;  // after this, processes that hold its streams are not waited for
  };

  // One descriptor of a member's that is waited for; without `stream` its end, or room to write.
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

}  // namespace ddlrun
