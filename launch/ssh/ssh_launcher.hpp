// SPDX-License-Identifier: MIT
// The head of a plain start: one ssh a host, whose other end is `ddlrun ssh-daemon`. Plays mpirun's part.
#pragma once

#include "base/process/posix_child_pool.hpp"
#include "launch/ssh/ssh_job_state.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"
#include "launch/ssh/ssh_protocol.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

class SshLauncher {
 public:
  SshLauncher(System& system, SshLaunchSpec document);
  // Until no host has anything left. Returns the job's exit status.
  int run();

 private:
  using Steady = std::chrono::steady_clock;

  // A host, and how far it is.
  struct HostConnection {
    enum State { waiting, starting, prepared, over } state = waiting;
    std::uint32_t node = 0;
    bool here = false;  // needs no ssh
    std::size_t member = 0;
    int attempts = 0;
    Steady::time_point due;  // waiting: not before; starting: not after
    HandshakeReader greeting;
    bool greeted = false;
    SshMessageReader reader;
    std::string said;  // by ssh, on stderr; its end
    Message problem;   // why nothing can be started here
    ErrorKind problem_kind = ErrorKind::unreachable;
  };

  ChildCallbacks callbacks();
  void start_more();
  void start_hand(HostConnection& connection);
  void take_bytes(HostConnection& connection, std::string_view bytes);
  void take_words(HostConnection& connection, std::string_view bytes);
  void greeted(HostConnection& connection);
  void take(HostConnection& connection, SshMessage&& message);
  void hand_ended(HostConnection& connection, const ProcessResult& end);
  bool try_again(HostConnection& connection, const ProcessResult& end);
  void give_up(HostConnection& connection, ErrorKind kind, Message problem);
  void go_or_give_up();
  void tell_problems();
  void follow(const SshJobState::Orders& orders);
  void take_signal(int signal);
  void take_input(std::string_view bytes);
  void stop(bool at_once);
  void look_at_time();
  std::chrono::milliseconds patience() const;
  void say(HostConnection& connection, SshMessageType word, std::uint32_t number = 0, std::string bytes = {});
  void say_to_all(SshMessageType word, std::uint32_t number = 0);
  HostConnection* of_member(std::size_t member);
  const RankMapHost& host_of(const HostConnection& connection) const {
    return document_.rank_map.hosts[connection.node];
  }
  std::string how_to_bring() const;

  System& system_;
  SshLaunchSpec document_;
  SshJobState job_;
  ChildPool children_;
  std::string build_id_;
  std::string host_spec_text_;  // to each host, values and all
  std::vector<HostConnection> connections_;
  std::map<std::size_t, std::size_t> hand_of_member_;
  std::size_t starting_ = 0;
  bool going_ = false;
  bool problems_told_ = false;
  std::optional<int> status_;  // where it is not the job's own
  Steady::time_point signalled_;
  int signal_ = 0;                             // the last stop signal
  std::optional<Steady::time_point> stop_at_;  // what has not ended by itself then
  std::optional<Steady::time_point> cut_at_;   // hosts that have not ended then are left
};

}  // namespace ddlrun::launch
