// SPDX-License-Identifier: MIT
// How ranks get connections to each other: one listens and lets in those who prove that they know the token
// (tcp_handshake), the others knock until they are let in. Strangers are told of once and cost seconds at
// most.
#pragma once

#include "ddl/tcp_handshake.hpp"
#include "ddl/tcp_socket.hpp"

#include <map>
#include <set>
#include <string>

namespace ddl {

struct TcpSelf {
  TcpCard card;
  std::string token;
  double timeout_seconds = 30.0;
};

// Until all of `expected` have come; `came` has those that have, also when it throws Error(lost) with the
// ranks that are missing.
void admit_ranks(const Socket& listener, const TcpSelf& self, const std::set<int>& expected,
                 TcpClock::time_point deadline, std::map<int, Socket>& came);

// A connection to rank `whom`, which listens there or will soon. Throws Error(lost) at the deadline,
// Error(usage) when that rank says why it does not let this one in.
Socket knock(const TcpAddress& address, const TcpSelf& self, int whom, TcpClock::time_point deadline);

}  // namespace ddl
