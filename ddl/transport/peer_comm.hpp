// SPDX-License-Identifier: MIT
// A communicator of ranks on different nodes, one rank of each node, that exchange messages: NCCL and MPI
// call it a communicator, too. The inter-node collectives run on one PeerComm for each level of the dims.
#pragma once

#include "ddl/stall.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace ddl {

class LivenessInspector;

class PeerComm {
 public:
  using Ticket = std::uint64_t;
  virtual ~PeerComm() = default;

  virtual int rank() const = 0;  // on this wire
  virtual int size() const = 0;
  // Both return at once; the bytes must stay until wait(). Messages between two ranks arrive in the order in
  // which they were sent; zero bytes are a message too.
  virtual Ticket send(int to, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int from, std::span<std::byte> bytes) = 0;
  // Throws Error(lost), naming the peer, when it is gone or the deadline of the wire has passed;
  // Error(mismatch) when the message had another size than the one expected.
  virtual void wait(Ticket ticket) = 0;
  // The current call: sent with every message from now on; a message with another stamp
  // than this rank's is an Error(mismatch).
  virtual void call_id(std::uint32_t call) { static_cast<void>(call); }
  // Called when a wait takes long.
  virtual void set_stall_watch(StallWatch watch) { static_cast<void>(watch); }
  // What is being called, for messages where there is no inspector.
  virtual void set_call_namer(std::function<std::string()> name) { static_cast<void>(name); }
  // Asked before a silent rank is reported; null: no inspector.
  virtual void set_inspector(LivenessInspector* inspector) { static_cast<void>(inspector); }
  // "rank 3 (h2)": the rank in the whole job.
  virtual std::string name_of(int rank) const = 0;
};

}  // namespace ddl
