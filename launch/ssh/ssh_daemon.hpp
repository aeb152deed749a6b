// SPDX-License-Identifier: MIT
// The daemon on each host of --launcher ssh: starts its ranks as the launcher requests over stdin, reports on
// stdout, and ends them when the launcher is gone.
//
//   [handshake] --spec--> prepare() --"prepared"--> [waits] --"start"--> [ranks run] --all ended--> exit
//                            |"refused"--> exit                              |
//       stdin closed, stdout closed, ssh's TCP unanswered 6 times, "stop", a stop signal
//                                                                            v
//                                             TERM, after grace_ms KILL, then everything left below
#pragma once

#include "base/os/system.hpp"
#include "base/process/child_pool.hpp"
#include "launch/ssh/line_buffer.hpp"
#include "launch/ssh/rank_spawn.hpp"
#include "launch/ssh/ssh_protocol.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ddlrun::launch {

class SshDaemon {
 public:
  SshDaemon(System& system, ChildPool& children)
      : system_(system), children_(children), last_probe_(children.now()) {}
  // Until all its ranks have ended, and nothing of them is left. Returns the exit status.
  int run();

 private:
  struct Rank {
    std::uint32_t rank = 0;
    std::size_t child = 0;
    LineBuffer out, err;
    ChildPool::Clock::time_point last_err;  // an unfinished line is forwarded some time after
    std::optional<ChildPool::Clock::time_point> kill_at;
    bool ended = false;
  };

  ChildCallbacks callbacks();
  void take(SshMessage&& message);
  void prepare(const std::string& document, std::uint32_t node);
  void start_ranks();
  void start_rank(std::uint32_t number);
  void send(SshMessageType word, std::uint32_t number = 0, std::uint32_t value = 0, std::string bytes = {});
  void forward_output(std::size_t child, bool is_err, std::string_view bytes);
  void rank_ended(std::size_t child, const ProcessResult& end);
  void end_rank(Rank& rank, std::chrono::milliseconds grace);
  void stop(std::chrono::milliseconds grace);
  void stop_without_launcher();
  void check_deadlines();
  void probe_connection(ChildPool::Clock::time_point now);
  std::chrono::milliseconds wait_limit() const;
  Rank* of_child(std::size_t child);
  std::chrono::milliseconds grace() const { return std::chrono::milliseconds(host_ ? host_->grace_ms : 0); }

  System& system_;
  ChildPool& children_;
  SshMessageReader reader_;
  std::optional<SshHostSpec> host_;
  std::uint32_t node_ = 0;             // which of its hosts this is
  std::map<std::size_t, Rank> ranks_;  // by child
  std::optional<std::size_t> input_child_;
  bool ack_is_due_ = false;  // the launcher waits for "ack"
  bool started_ = false;
  bool stopping_ = false;
  ChildPool::Clock::time_point stop_over_ = ChildPool::Clock::time_point::max();
  bool over_ = false;
  int status_ = 0;
  int failed_probes_ = 0;  // in succession
  ChildPool::Clock::time_point last_probe_;
};

}  // namespace ddlrun::launch
