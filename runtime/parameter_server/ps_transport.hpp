// SPDX-License-Identifier: MIT
// PsTransport between workers and parameter servers: a few numbers and a vector, from one rank to another.
// Implemented over MPI (mpi_parcels.hpp) and, for tests, between threads (thread_parcels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

struct PushPullHeader {
  std::uint64_t step = 0;            // worker: done before this push
  std::uint64_t end_step = 0;        // when all end, as far as the sender knows; 0: not yet
  std::uint64_t stop_requested = 0;  // 1: the sender does
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
  // A worker's call: the same header and a part of `gradients` to each server, and from each its part of
  // `weights`. Both lie in the order of the servers. Returns the notes of the servers. Throws Error if a
  // server is gone or silent for too long.
  virtual std::vector<PushPullHeader> exchange(std::span<const int> servers, const PushPullHeader& header,
                                               std::span<const std::span<const float>> gradients,
                                               std::span<const std::span<float>> weights) = 0;
  // A server's calls: the next message of anyone, and an reply. reply() copies `weights`. `awaited`: who has
  // to come; Error if one of them is gone, or all are silent for too long.
  virtual Received receive(std::span<float> gradients, std::span<const std::size_t> awaited) = 0;
  virtual void reply(int worker, const PushPullHeader& header, std::span<const float> weights) = 0;
};

}  // namespace ddlrun::runtime
