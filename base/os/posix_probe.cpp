// SPDX-License-Identifier: MIT
// PosixNetworkAccess::probe: a client for each peer beside the server, in threads of one short-lived process.
#include "base/os/posix_sockets.hpp"
#include "base/os/probe_server.hpp"
#include "base/text/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

namespace ddlrun {

namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using Kind = ProbeAnswer::Kind;

constexpr int headers = 28;  // of IP and UDP

struct Attempt {
  ProbeAnswer answer;
  std::vector<std::string> networks;  // reported by the other end
  bool is_sure = true;                // refused: by a peer that was there before and after
};

// Where a peer has answered, for all threads that try it.
class Way {
 public:
  using Place = std::pair<std::string, std::uint16_t>;  // an address and a port

  std::optional<Place> get() const {
    const std::lock_guard lock(mutex_);
    return place_;
  }
  void set(const std::string& address, std::uint16_t port) {
    const std::lock_guard lock(mutex_);
    if (!place_) place_ = {address, port};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Place> place_;
};

// Sends the key and a word; the answer of the other end.
std::optional<std::string> greet(const NetworkProbe& probe, int descriptor, std::string_view word,
                                 Deadline deadline) {
  const std::string hello = fmt::format("{}{} {} {}\n", probe_greeting, probe.key, probe.own_id, word);
  if (!send_text(descriptor, hello, earlier_of(deadline, 1s))) return std::nullopt;
  return receive_line(descriptor, 4096, earlier_of(deadline, 2s));
}

// One connection, one word; how it went.
Attempt try_once(const NetworkProbe& probe, const ProbePeer& peer, const std::string& address,
                 std::uint16_t port, std::string_view word, Deadline deadline) {
  Attempt attempt{{Kind::unreachable, peer.id, address, port, "not an IPv4 address"}, {}};
  const auto target = socket_address(address, port);
  if (!target) return attempt;
  const Connected connected = connect_socket(*target, earlier_of(deadline, 2s));
  attempt.answer.detail = connected.error == 0 ? "" : std::strerror(connected.error);
  if (connected.error == ECONNREFUSED) attempt.answer.kind = Kind::refused;
  if (connected.error == ETIMEDOUT) attempt.answer.kind = Kind::timed_out;
  if (connected.error != 0) return attempt;
  const auto line = greet(probe, connected.socket.get(), word, deadline);
  attempt.answer.kind = Kind::another_host;
  attempt.answer.detail = "another program";
  if (!line || !line->starts_with(probe_answer)) return attempt;
  const auto words = split(std::string_view(*line).substr(probe_answer.size()), ' ');
  attempt.answer.detail = words[0] == probe.own_id ? "this host itself" : printable(words[0], 80);
  if (words[0] != peer.id) return attempt;
  attempt.answer.kind = Kind::connected;
  attempt.answer.detail.clear();
  if (words.size() > 1) {
    for (const std::string_view network : split(words[1], ',')) attempt.networks.emplace_back(network);
  }
  return attempt;
}

// Refused may only mean that the peer has not begun yet, or is gone: tried again to the deadline, or until it
// is known to be there. Silence is tried twice.
Attempt try_on(const NetworkProbe& probe, const ProbePeer& peer, const std::string& address,
               std::uint16_t port, Deadline deadline, Way& way) {
  int silent = 0;
  while (true) {
    const std::optional<Way::Place> there = way.get();
    Attempt attempt = try_once(probe, peer, address, port, "probe", deadline);
    const Kind kind = attempt.answer.kind;
    if (kind == Kind::connected) way.set(address, port);
    if (kind == Kind::refused) {
      attempt.is_sure =
          there && try_once(probe, peer, there->first, there->second, "probe", deadline).answer.kind ==
                       Kind::connected;
    }
    if (kind == Kind::timed_out) ++silent;
    const bool ended =
        kind == Kind::connected || kind == Kind::another_host || (kind == Kind::refused && attempt.is_sure);
    if (ended || silent == 2 || Steady::now() + 150ms >= deadline) return attempt;
    std::this_thread::sleep_for(150ms);
  }
}

bool passes(const sockaddr_in& target, int bytes, const NetworkProbe& probe) {
  Socket socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int never = IP_PMTUDISC_PROBE;  // do not fragment, and heed no cached path MTU
  if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target), sizeof(target)) != 0)
    return false;
  ::setsockopt(socket.get(), IPPROTO_IP, IP_MTU_DISCOVER, &never, sizeof(never));
  std::string text = mtu_greeting(probe);
  text.resize(static_cast<std::size_t>(bytes - headers), ' ');
  const std::string reply = mtu_answer(probe, text.size());
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) < 0) return false;
    if (!wait_ready(socket.get(), POLLIN, Steady::now() + 250ms)) continue;
    std::array<char, 128> buffer{};
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (n > 0 && std::string_view(buffer.data(), static_cast<std::size_t>(n)) == reply) return true;
  }
  return false;
}

// The interface's own size, else the largest usual one below it.
PathMtu measure_path(const std::string& peer, const std::string& address, std::uint16_t port, int mtu,
                     const NetworkProbe& probe) {
  static constexpr std::array<int, 9> usual{9000, 4092, 2044, 1500, 1480, 1450, 1400, 1280, 576};
  PathMtu path{peer, address, mtu, 0};
  const auto target = socket_address(address, port);
  if (!target || mtu < 576 || mtu > 65535) return path;
  if (passes(*target, mtu, probe)) path.passed = mtu;
  for (const int size : usual) {
    if (path.passed == 0 && size < mtu && passes(*target, size, probe)) path.passed = size;
  }
  return path;
}

StreamRate measure_stream(const NetworkProbe& probe, const ProbePeer& peer, const std::string& address,
                          std::uint16_t port, Deadline deadline) {
  StreamRate rate{peer.id, address, 0};
  const auto target = socket_address(address, port);
  if (!target) return rate;
  const Connected connected = connect_socket(*target, earlier_of(deadline, 2s));
  const int descriptor = connected.socket.get();
  if (connected.error != 0 || !greet(probe, descriptor, "stream", deadline)) return rate;
  const std::string block(256u << 10, 'x');
  const auto begun = Steady::now();
  const Deadline enough = earlier_of(deadline, 1s);
  while (Steady::now() < enough && send_text(descriptor, block, earlier_of(deadline, 2s))) {
  }
  ::shutdown(descriptor, SHUT_WR);
  const auto bytes = parse_unsigned(receive_line(descriptor, 32, earlier_of(deadline, 3s)).value_or(""));
  const double seconds = std::chrono::duration<double>(Steady::now() - begun).count();
  if (bytes && seconds > 0) rate.megabits_per_second = static_cast<double>(*bytes) * 8e-6 / seconds;
  return rate;
}

bool same_network(const std::string& a, const std::string& b) {
  const auto bits = [](const std::string& text) {
    in_addr address{};
    ::inet_pton(AF_INET, text.substr(0, text.find('/')).c_str(), &address);
    return ntohl(address.s_addr);
  };
  const auto slash_a = a.find('/'), slash_b = b.find('/');
  if (slash_a == std::string::npos || slash_b == std::string::npos) return false;
  const auto prefix = parse_unsigned(a.substr(slash_a + 1), 32);
  if (!prefix || *prefix == 0 || a.substr(slash_a) != b.substr(slash_b)) return false;
  return (bits(a) ^ bits(b)) >> (32 - *prefix) == 0;
}

// All that concerns one peer.
class PeerProbe {
 public:
  PeerProbe(const NetworkProbe& probe, const ProbePeer& peer, Deadline deadline)
      : probe_(probe), peer_(peer), deadline_(deadline) {}

  ProbeResult run(bool stream) {
    for (const std::string& address : peer_.addresses) try_ports(address, probe_.ports);
    if (const auto way = way_.get()) {
      for (const std::string& address : further_addresses()) try_ports(address, {way->second});
      for (const std::string& address : reached_) measure(address);
      if (stream) result_.rates.push_back(measure_stream(probe_, peer_, way->first, way->second, deadline_));
      try_once(probe_, peer_, way->first, way->second, "bye", deadline_);
    }
    return std::move(result_);
  }

 private:
  void try_ports(const std::string& address, const std::vector<std::uint16_t>& ports) {
    std::vector<Attempt> attempts(ports.size());
    std::vector<std::thread> threads;
    const bool is_there = way_.get().has_value();  // no need to wait for it
    const Deadline end = is_there ? earlier_of(deadline_, 4s) : deadline_;
    for (std::size_t i = 0; i < ports.size(); ++i)
      threads.emplace_back([&, i] { attempts[i] = try_on(probe_, peer_, address, ports[i], end, way_); });
    for (std::thread& thread : threads) thread.join();
    for (Attempt& attempt : attempts) {
      if (attempt.answer.kind == Kind::connected) {
        if (networks_.empty()) networks_ = attempt.networks;
        if (reached_.empty() || reached_.back() != address) reached_.push_back(address);
      }
      // A refusal says nothing about a peer that came late or left early.
      if (attempt.is_sure || !way_.get()) result_.answers.push_back(std::move(attempt.answer));
    }
  }

  std::vector<std::string> further_addresses() const {
    std::vector<std::string> further;
    for (const std::string& network : networks_) {
      const std::string address = network.substr(0, network.find('/'));
      const auto& known = peer_.addresses;
      const bool ours =
          std::any_of(probe_.networks.begin(), probe_.networks.end(),
                      [&](const OwnNetwork& own) { return same_network(own.address, network); });
      if (ours && std::find(known.begin(), known.end(), address) == known.end() && further.size() < 8)
        further.push_back(address);
    }
    return further;
  }

  void measure(const std::string& address) {
    for (const OwnNetwork& own : probe_.networks) {
      const std::string there = address + own.address.substr(own.address.find('/'));
      if (!same_network(own.address, there)) continue;
      result_.paths.push_back(measure_path(peer_.id, address, probe_.ports.front(), own.mtu, probe_));
      return;
    }
  }

  const NetworkProbe& probe_;
  const ProbePeer& peer_;
  Deadline deadline_;
  ProbeResult result_;
  Way way_;
  std::vector<std::string> networks_, reached_;
};

void append(ProbeResult& all, ProbeResult&& some) {
  std::move(some.answers.begin(), some.answers.end(), std::back_inserter(all.answers));
  std::move(some.paths.begin(), some.paths.end(), std::back_inserter(all.paths));
  std::move(some.rates.begin(), some.rates.end(), std::back_inserter(all.rates));
}

}  // namespace

ProbeResult PosixNetworkAccess::probe(const NetworkProbe& probe) {
  const Deadline deadline = Steady::now() + probe.limit;
  ProbeServer server(probe, deadline);
  std::vector<ProbeResult> parts(probe.peers.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < probe.peers.size(); ++i) {
    threads.emplace_back(
        [&, i] { parts[i] = PeerProbe(probe, probe.peers[i], deadline).run(probe.stream && i == 0); });
  }
  for (std::thread& thread : threads) thread.join();
  while (!server.all_said_bye() && Steady::now() < deadline) std::this_thread::sleep_for(20ms);
  ProbeResult result;
  for (ProbeResult& part : parts) append(result, std::move(part));
  result.not_listening = server.not_listening();
  return result;
}

}  // namespace ddlrun
