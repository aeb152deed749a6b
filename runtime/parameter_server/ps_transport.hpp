// SPDX-License-Identifier: MIT
// Messages between workers and parameter servers: a small header and a vector, from one rank to another.
// Implemented over libddl (ddl_ps_transport.hpp) and, for tests, between threads (thread_ps_transport.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

struct PushPullHeader {
  std::uint64_t step = 0;            // worker: done before this push
  std::uint64_t end_step = 0;        // step at which all ranks stop, if the sender has it; else 0
  std::uint64_t stop_requested = 0;  // 1: the sender requests a stop
  double loss = 0.0;  // worker: the sum over its batch; server: over all workers', asynchronous: that one's
};

struct Received {
  int from = 0;
  PushPullHeader header;
};

class PsTransport {
 public:
  virtual ~PsTransport() = default;
  virtual int rank() const = 0;
  // Called by a worker: sends `header` and its part of `gradients` to each server, and receives its part of
  // `weights` from each. Both are in the order of the servers. Returns the headers of the servers. Throws
  // Error if a server exits or times out.
  virtual std::vector<PushPullHeader> exchange(std::span<const int> servers, const PushPullHeader& header,
                                               std::span<const std::span<const float>> gradients,
                                               std::span<const std::span<float>> weights) = 0;
  // Called by a server: receive() returns the next message of any worker, reply() answers one and copies
  // `weights`. `awaited`: the workers that must send; throws Error if one of them exits or all time out.
  virtual Received receive(std::span<float> gradients, std::span<const std::size_t> awaited) = 0;
  virtual void reply(int worker, const PushPullHeader& header, std::span<const float> weights) = 0;
};

}  // namespace ddlrun::runtime
