// SPDX-License-Identifier: MIT
#include "base/os/probe_server.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t most_connections = 512;  // at a time

// Sends the streaming peer the received bytes: the count of the peer ends at its buffers.
void swallow(int descriptor, Deadline end) {
  std::vector<char> buffer(256u << 10);
  std::uint64_t bytes = 0;
  while (wait_ready(descriptor, POLLIN, end)) {
    const ssize_t n = ::recv(descriptor, buffer.data(), buffer.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) break;
    bytes += static_cast<std::uint64_t>(n);
  }
  send_text(descriptor, fmt::format("{}\n", bytes), end);
}

}  // namespace

std::string mtu_greeting(const NetworkProbe& probe) { return fmt::format("ddlrun-mtu {} ", probe.key); }

std::string mtu_answer(const NetworkProbe& probe, std::size_t bytes) {
  return fmt::format("ddlrun-mtu-answer {} {}", probe.key, bytes);
}

Deadline earlier_of(Deadline deadline, std::chrono::milliseconds span) {
  return std::min(deadline, Steady::now() + span);
}

ProbeServer::ProbeServer(const NetworkProbe& probe, Deadline deadline) : probe_(probe), deadline_(deadline) {
  for (const std::uint16_t port : probe.ports) {
    auto [socket, problem] = bind_socket(SOCK_STREAM, port);
    if (socket) listeners_.push_back(std::move(socket));
    if (!problem.empty()) not_listening_.emplace_back(port, problem);
  }
  if (!probe.ports.empty()) datagrams_ = bind_socket(SOCK_DGRAM, probe.ports.front()).first;
  thread_ = std::thread([this] { serve(); });
}

ProbeServer::~ProbeServer() {
  stop_ = true;
  thread_.join();
  for (Talk& each : talks_) each.thread.join();
}

bool ProbeServer::all_said_bye() {
  const std::lock_guard lock(mutex_);
  return std::all_of(probe_.peers.begin(), probe_.peers.end(),
                     [this](const ProbePeer& peer) { return gone_.contains(peer.id); });
}

void ProbeServer::serve() {
  std::vector<pollfd> entries;
  for (const Socket& listener : listeners_) entries.push_back({listener.get(), POLLIN, 0});
  if (datagrams_) entries.push_back({datagrams_.get(), POLLIN, 0});
  while (!stop_ && Steady::now() < deadline_) {
    if (::poll(entries.data(), entries.size(), 50) <= 0) continue;
    for (const pollfd& entry : entries) {
      if ((entry.revents & POLLIN) == 0) continue;
      if (entry.fd == datagrams_.get()) {
        echo();
      } else {
        take(entry.fd);
      }
    }
  }
}

void ProbeServer::take(int listener) {
  const int descriptor = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return;
  Socket socket(descriptor);
  join_ended();
  if (talks_.size() >= most_connections) return;
  Talk& added = talks_.emplace_back();
  added.thread = std::thread([this, &added, own = std::move(socket)] {
    talk(own.get());
    added.ended = true;
  });
}

void ProbeServer::join_ended() {
  talks_.remove_if([](Talk& each) {
    if (each.ended) each.thread.join();
    return each.ended.load();
  });
}

void ProbeServer::talk(int descriptor) {
  const Deadline end = earlier_of(deadline_, 4s);
  const auto line = receive_line(descriptor, 512, end);
  const std::string hello = fmt::format("{}{} ", probe_greeting, probe_.key);
  if (!line || !line->starts_with(hello)) return;
  std::vector<std::string> networks;
  for (const OwnNetwork& network : probe_.networks) networks.push_back(network.address);
  const std::string answer = fmt::format("{}{} {}\n", probe_answer, probe_.own_id, join(networks, ","));
  if (!send_text(descriptor, answer, end)) return;
  const std::string text = line->substr(hello.size());
  const auto blank = text.rfind(' ');
  const std::string word = blank == std::string::npos ? "" : text.substr(blank + 1);
  if (word == "bye") {
    const std::lock_guard lock(mutex_);
    gone_.insert(text.substr(0, blank));
  }
  if (word == "stream") swallow(descriptor, end);
}

void ProbeServer::echo() {
  std::array<char, 65536> buffer;
  sockaddr_in from{};
  socklen_t size = sizeof(from);
  const ssize_t n = ::recvfrom(datagrams_.get(), buffer.data(), buffer.size(), 0,
                               reinterpret_cast<sockaddr*>(&from), &size);
  const std::string greeting = mtu_greeting(probe_);
  if (n <= 0 || !std::string_view(buffer.data(), static_cast<std::size_t>(n)).starts_with(greeting)) return;
  const std::string reply = mtu_answer(probe_, static_cast<std::size_t>(n));
  ::sendto(datagrams_.get(), reply.data(), reply.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&from),
           size);
}

}  // namespace ddlrun
