// SPDX-License-Identifier: MIT
// Parcels between workers and parameter servers: a few numbers and a vector, from one rank to another.
// Implemented over MPI (mpi_parcels.hpp) and, for tests, between threads (thread_parcels.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

struct ParcelNote {
  std::uint64_t step = 0;        // worker: done before this push
  std::uint64_t stops_at = 0;    // when all end, as far as the sender knows; 0: not yet
  std::uint64_t wants_stop = 0;  // 1: the sender does
  double loss = 0.0;  // worker: the sum over its batch; server: over all workers', asynchronous: that one's
};

struct Arrived {
  int from = 0;
  ParcelNote note;
};

class Parcels {
 public:
  virtual ~Parcels() = default;
  virtual int rank() const = 0;
  // A worker's call: the same note and a part of `gradients` to each server, and from each its part of
  // `weights`. Both lie in the order of the servers. Returns the notes of the servers. Throws Error if a
  // server is gone or silent for too long.
  virtual std::vector<ParcelNote> exchange(std::span<const int> servers, const ParcelNote& note,
                                           std::span<const std::span<const float>> gradients,
                                           std::span<const std::span<float>> weights) = 0;
  // A server's calls: the next parcel of anyone, and an answer. answer() copies `weights`. `awaited`: who has
  // to come; Error if one of them is gone, or all are silent for too long.
  virtual Arrived receive(std::span<float> gradients, std::span<const std::size_t> awaited) = 0;
  virtual void answer(int worker, const ParcelNote& note, std::span<const float> weights) = 0;
};

}  // namespace ddlrun::runtime
