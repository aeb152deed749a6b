// SPDX-License-Identifier: MIT
// Sums among the ranks of one host, through memory that all of them see: each rank owns a slice of the range
// and adds it up for all. Without a copy where the numbers lie in a SharedBlock, else staged through caches.
// Additions are made in the order of the local ranks: the same bits on all ranks, every time.
//
// Every call is collective. A rank that dies, does not come within the timeout or calls something else ends
// in the same ddl::Error on all ranks of the host; after that each further call throws it again.
#pragma once

#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/host_barrier.hpp"
#include "ddl/host_group.hpp"
#include "ddl/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ddl {

// Elements [begin, begin + count) of a range.
struct Slice {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// The same range in each local rank's part of a SharedBlock.
struct SharedRange {
  std::vector<std::byte*> parts;  // one for each local rank
  std::size_t count = 0;          // elements
  DataType type = DataType::float32;
};

class HostStage {
 public:
  // Collective, as the destructor (it frees a SharedBlock). The group outlives the stage.
  HostStage(HostGroup& group, double timeout_seconds);
  ~HostStage();
  HostStage(const HostStage&) = delete;
  HostStage& operator=(const HostStage&) = delete;

  int local_rank() const;
  int local_size() const;
  // The elements of this rank, and of any: cut at 64-byte lines, nothing left out.
  Slice slice(std::size_t count, DataType type) const;
  Slice slice_of(int local_rank, std::size_t count, DataType type) const;

  // Sums of so few bytes go the same way from any memory.
  bool is_small(std::size_t bytes) const;

  // My slice of all parts, added up, in my own part. Until the next call touch only my slice of my own part:
  // the others may still read the rest.
  void reduce_scatter(const SharedRange& range, const Reduction& reduction, const Call& call);
  // My slice of my part written into all others' parts.
  void all_gather(const SharedRange& range, const Call& call);
  // Both in stretches of my slice: between meet_for_sums and meet_with_sums each is summed, into my own part,
  // and then written into the others' parts, in any order and with anything in between.
  void meet_for_sums(const SharedRange& range, const Reduction& reduction, const Call& call);
  void sum_stretch(const SharedRange& range, const Reduction& reduction, const Slice& stretch);
  void hand_out(const SharedRange& range, const Slice& stretch);
  void meet_with_sums(const SharedRange& range, const Call& call);
  // The sum of all parts in my own part.
  void all_reduce(const SharedRange& range, const Reduction& reduction, const Call& call);
  // The root's part in mine.
  void broadcast(const SharedRange& range, int root, const Call& call);
  void barrier(const Call& call);
  void meet(const Occasion& occasion);  // HostBarrier's
  void look() const;

  // The sum once and its use once per host: `update` gets my slice in blocks that fit the caches, one after
  // the other, each with its sums. The parts keep what they held. When this returns, all ranks' updates are
  // done.
  using Update = std::function<void(const Slice& block, const std::byte* sums)>;
  void reduce_update(const SharedRange& range, const Reduction& reduction, const Call& call,
                     const Update& update);

  // The same for memory that only this process sees.
  void reduce_scatter(std::byte* data, std::size_t count, const Reduction& reduction, const Call& call);
  void all_gather(std::byte* data, std::size_t count, DataType type, const Call& call);
  void all_reduce(std::byte* data, std::size_t count, const Reduction& reduction, const Call& call);
  void broadcast(std::byte* data, std::size_t count, DataType type, int root, const Call& call);

  // For an error that this rank met elsewhere, on a wire: the host's other ranks throw it too instead of
  // waiting.
  void give_up(const Error& error) noexcept;

  void call_roll(RollCall* roll, std::vector<int> ranks);  // HostBarrier's
  // Who is told when a wait takes long; and what this rank is at, for the others, from any thread.
  void watch(StallWatch watch);
  void set_state(std::uint64_t state) noexcept;
  void end() noexcept;  // HostBarrier's

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ddl
