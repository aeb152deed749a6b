// SPDX-License-Identifier: MIT
// The door to the network: ports that can be listened on, and a probe that many hosts run at the same time to
// see whether each gets through to its neighbours.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun {

struct ProbePeer {
  std::string id;                      // what it calls itself
  std::vector<std::string> addresses;  // IPv4, tried in this order
};

struct OwnNetwork {
  std::string address;  // "10.1.1.1/24"
  int mtu = 1500;
};

struct NetworkProbe {
  std::string own_id;
  std::string key;  // all hosts of one examination have the same; who lacks it gets no answer
  std::vector<std::uint16_t> ports;  // listened on, and connected to at each peer
  std::vector<ProbePeer> peers;      // each runs the same probe with this host among its peers
  std::vector<OwnNetwork> networks;  // a peer's further addresses in these are tried too
  std::chrono::milliseconds limit{6000};
  bool stream = false;  // then send to the first peer for a second, to see how much gets through
};

struct ProbeAnswer {
  enum class Kind { connected, refused, timed_out, unreachable, another_host } kind = Kind::timed_out;
  std::string peer, address;
  std::uint16_t port = 0;
  std::string detail;  // the system's words; for another_host, who it is
};

struct PathMtu {
  std::string peer, address;
  int asked = 0;   // the interface's own, bytes of IP
  int passed = 0;  // the largest that came through unfragmented; 0 = not even the smallest: UDP is filtered
};

struct StreamRate {
  std::string peer, address;
  double megabits_per_second = 0;
};

struct ProbeResult {
  std::vector<ProbeAnswer> answers;
  std::vector<std::pair<std::uint16_t, std::string>> not_listening;  // port, why
  std::vector<PathMtu> paths;
  std::vector<StreamRate> rates;
};

class NetworkAccess {
 public:
  virtual ~NetworkAccess() = default;
  // "" where the port can be listened on, as a server with SO_REUSEADDR does; else the system's words.
  virtual std::string try_listen(std::uint16_t port) = 0;
  virtual ProbeResult probe(const NetworkProbe& probe) = 0;
};

}  // namespace ddlrun
