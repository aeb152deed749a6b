// SPDX-License-Identifier: MIT
// Ranks of different hosts, one of each host, that exchange bytes: what the levels above a host are made of.
// Made with MPI (mpi_wire) or, in tests, by threads of one process (thread_ranks).
#pragma once

#include "ddl/stall.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace ddl {

class RollCall;

class Wire {
 public:
  using Ticket = std::uint64_t;
  virtual ~Wire() = default;

  virtual int rank() const = 0;  // on this wire
  virtual int size() const = 0;
  // Both return at once; the bytes must stay until wait(). Messages between two ranks arrive in the order in
  // which they were sent; zero bytes are a message too.
  virtual Ticket send(int to, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int from, std::span<std::byte> bytes) = 0;
  // Throws Error(lost), naming the peer, when it is gone or the deadline of the wire has passed;
  // Error(mismatch) when the message had another size than the one expected.
  virtual void wait(Ticket ticket) = 0;
  // What is being called: told with every message sent from now on; one that is received with another stamp
  // than this rank's is an Error(mismatch).
  virtual void stamp(std::uint32_t call) { static_cast<void>(call); }
  // Who is told when a wait takes long.
  virtual void watch(StallWatch watch) { static_cast<void>(watch); }
  // What is being called, for messages.
  virtual void name_calls(std::function<std::string()> name) { static_cast<void>(name); }
  // Who is asked before a rank is blamed for a silence; null: nobody.
  virtual void call_roll(RollCall* roll) { static_cast<void>(roll); }
  // "rank 3 (h2)": the rank in the whole job.
  virtual std::string name_of(int rank) const = 0;
};

}  // namespace ddl
