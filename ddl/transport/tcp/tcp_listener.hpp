// SPDX-License-Identifier: MIT
// How ranks get connections to each other: one listens and lets in those who prove that they know the token
// (tcp_handshake), the others knock until they are let in. Strangers are reported once and cost seconds at
// most.
#pragma once

#include "ddl/transport/tcp/tcp_handshake.hpp"
#include "ddl/transport/tcp/tcp_socket.hpp"

#include <map>
#include <set>
#include <string>

namespace ddl {

struct TcpIdentity {
  PeerInfo info;
  std::string token;
  double timeout_seconds = 30.0;
};

// Until all of `expected` have come; `came` has those that have, also when it throws Error(lost) with the
// ranks that are missing.
void accept_ranks(const Socket& listener, const TcpIdentity& self, const std::set<int>& expected,
                  TcpClock::time_point deadline, std::map<int, Socket>& accepted_ranks);

// A connection to rank `whom`, which listens there or will soon. Throws Error(lost) at the deadline,
// Error(usage) when that rank says why it does not let this one in.
Socket connect_to_rank(const TcpAddress& address, const TcpIdentity& self, int waits_for,
                       TcpClock::time_point deadline);

}  // namespace ddl
