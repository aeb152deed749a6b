// SPDX-License-Identifier: MIT
// The half of a network probe that answers who sends the probe's key: to "ddlrun-probe KEY ID WORD" with
// "ddlrun-answer ID NETWORKS"; it counts a stream, and reports the size of datagrams. Runs in threads until
// it is destroyed.
#pragma once

#include "base/os/posix_sockets.hpp"

#include <atomic>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace ddlrun {

// Answers begin otherwise: who sends back what arrives answers nothing, and no server answers an answer.
constexpr std::string_view probe_greeting = "ddlrun-probe ", probe_answer = "ddlrun-answer ";

std::string mtu_greeting(const NetworkProbe& probe);                   // begins each datagram
std::string mtu_answer(const NetworkProbe& probe, std::size_t bytes);  // to one of so many bytes

// The earlier of a deadline and a span from now.
Deadline earlier_of(Deadline deadline, std::chrono::milliseconds span);

class ProbeServer {
 public:
  ProbeServer(const NetworkProbe& probe, Deadline deadline);
  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  const std::vector<std::pair<std::uint16_t, std::string>>& not_listening() const { return not_listening_; }
  bool all_said_bye();  // every peer has seen what it wanted

 private:
  void serve();
  void take(int listener);
  void join_ended();
  void talk(int descriptor);
  void echo();

  const NetworkProbe& probe_;
  Deadline deadline_;
  std::vector<Socket> listeners_;
  Socket datagrams_;
  std::vector<std::pair<std::uint16_t, std::string>> not_listening_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::set<std::string> gone_;
  struct Talk {
    std::atomic<bool> ended = false;
    std::thread thread;
  };
  std::list<Talk> talks_;  // of thread_ alone
  std::thread thread_;
};

}  // namespace ddlrun
