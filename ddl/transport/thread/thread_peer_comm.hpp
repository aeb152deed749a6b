// SPDX-License-Identifier: MIT
// Peer communicators between threads of one process: for tests. Strict: a message is copied only when both
// sides have posted it, so nothing can lean on buffering; lost, late and odd messages can be made to order.
#pragma once

#include "ddl/transport/peer_comm.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

struct ThreadPeerCommOptions {
  std::chrono::milliseconds deadline{10000};
  // Request for each message (from, to, number of the message between the two): how long it is under way;
  // negative: it never arrives. Called by all threads.
  std::function<std::chrono::microseconds(int from, int to, std::uint64_t number)> delay;
  std::function<std::string(int rank)> name_of;  // "rank 3 (h2)"; empty: "rank 3"
};

// The ends of one wire, for ranks 0 .. size-1; each is used by one thread. An end that is destroyed is
// "gone": calls that wait for it fail at once.
std::vector<std::unique_ptr<PeerComm>> make_thread_peer_comms(int size, ThreadPeerCommOptions options = {});

}  // namespace ddl
