// SPDX-License-Identifier: MIT
// Starts the ranks of a job over ssh, in mpirun's place: one ssh a host, whose other end is `ddlrun
// ssh-daemon`. The job starts on no host unless all hosts are prepared.
//
//   each host:  waiting --ssh--> starting --handshake, spec, "prepared"--> prepared --> over
//                  ^                |  "refused", no ssh, no ddlrun, 30 s             ^
//                  +-- sshd dropped |-------------------------------------------------+
//                      the connection (4 attempts)
//   the job:    [hosts prepare] --all prepared: "start"--> [ranks run] --first failure, signal--> [stops]
//               [hosts prepare] --one host over----------> problems are printed, nothing is started
//               a signal that ends the job goes to the ranks, which then have 20 s to save
//   [stops]:    TERM, after grace_ms KILL (by the daemons); 10 s later the launcher kills ssh itself
#pragma once

#include "base/os/system.hpp"
#include "base/process/child_pool.hpp"
#include "launch/rank/stderr_source.hpp"
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
  SshLauncher(System& system, ChildPool& children, SshLaunchSpec document);
  // Runs until no host has ranks or connections left. Returns the job's exit status.
  int run();

 private:
  // A host, and how far it is.
  struct HostConnection {
    enum State { waiting, starting, prepared, over } state = waiting;
    std::uint32_t node = 0;
    bool here = false;  // needs no ssh
    std::size_t child = 0;
    int attempts = 0;
    ChildPool::Clock::time_point due;  // waiting: not before; starting: not after
    HandshakeReader handshake;
    bool shook_hands = false;
    SshMessageReader reader;
    std::string stderr_text;  // of ssh; its end
    Message problem;          // why nothing can be started here
    ErrorKind problem_kind = ErrorKind::unreachable;
  };

  ChildCallbacks callbacks();
  void start_more();
  void start_daemon(HostConnection& connection);
  void take_bytes(HostConnection& connection, std::string_view bytes);
  void take_messages(HostConnection& connection, std::string_view bytes);
  void shook_hands(HostConnection& connection);
  void check_sender(const HostConnection& connection, const SshMessage& message) const;
  void take(HostConnection& connection, SshMessage&& message);
  void daemon_exited(HostConnection& connection, const ProcessResult& end);
  bool retry_connection(HostConnection& connection, const ProcessResult& end);
  void forward_stderr(const SshMessage& message);
  void pass_noise(std::string_view bytes);
  void report_bad_end(const SshMessage& message);
  void fail_host(HostConnection& connection, ErrorKind kind, Message problem);
  void start_when_prepared();
  void report_problems();
  void apply(const SshJobState::Actions& actions);
  void take_signal(int signal);
  void take_input(std::string_view bytes);
  void stop(bool at_once);
  void check_deadlines();
  std::chrono::milliseconds wait_limit() const;
  void send(HostConnection& connection, SshMessageType word, std::uint32_t number = 0,
            std::string bytes = {});
  void send_to_all(SshMessageType word, std::uint32_t number = 0);
  HostConnection* of_child(std::size_t child);
  const RankMapHost& host_of(const HostConnection& connection) const {
    return spec_.rank_map.hosts[connection.node];
  }
  std::string install_hint(const std::string& host) const;

  System& system_;
  ChildPool& children_;
  SshLaunchSpec spec_;
  SshJobState job_;
  ForeignMarkFilter foreign_marks_;
  std::string build_id_;
  std::string host_spec_text_;  // to each host, values and all
  std::vector<HostConnection> connections_;
  std::map<std::size_t, std::size_t> connection_of_child_;
  std::size_t starting_ = 0;
  bool started_ = false;
  bool problems_reported_ = false;
  std::optional<int> status_;  // where it is not the job's own
  ChildPool::Clock::time_point signalled_;
  int signal_ = 0;                                       // the last stop signal
  std::optional<ChildPool::Clock::time_point> stop_at_;  // what has not ended by itself then
  std::optional<ChildPool::Clock::time_point> cut_at_;   // hosts that have not ended then are left
};

}  // namespace ddlrun::launch
