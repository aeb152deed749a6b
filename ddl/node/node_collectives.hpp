// SPDX-License-Identifier: MIT
// Sums among the ranks of one host, through memory that all of them see: each rank owns a slice of the range
// and adds it up for all. Without a copy where the numbers lie in a SharedBuffer, else staged through caches.
// Additions are made in the order of the local ranks: the same bits on all ranks, every time.
//
// Every call is collective. A rank that dies, does not come within the timeout or calls something else ends
// in the same ddl::Error on all ranks of the host; after that each further call throws it again.
#pragma once

#include "ddl/core/kernels.hpp"
#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/node/node_barrier.hpp"
#include "ddl/node/node_comm.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// Elements [begin, begin + count) of a range.
struct Slice {
  std::size_t begin = 0;
  std::size_t count = 0;
};

// The same range in each local rank's part of a SharedBuffer.
struct SharedRange {
  std::vector<std::byte*> parts;  // one for each local rank
  std::size_t count = 0;          // elements
  DataType type = DataType::float32;
};

class NodeCollectives {
 public:
  // Collective, as the destructor (it frees a SharedBuffer). The group outlives the stage.
  // `suffix`: NodeBarrier's.
  NodeCollectives(NodeComm& group, double timeout_seconds, std::string suffix = "");
  ~NodeCollectives();
  NodeCollectives(const NodeCollectives&) = delete;
  NodeCollectives& operator=(const NodeCollectives&) = delete;

  int local_rank() const;
  int local_size() const;
  // The elements of this rank, and of any: cut at 64-byte lines, nothing left out.
  Slice slice(std::size_t count, DataType type) const;
  Slice slice_of(int local_rank, std::size_t count, DataType type) const;

  // Sums of so few bytes go the same way from any memory.
  bool is_small(std::size_t bytes) const;

  // My slice of all parts, added up, in my own part. Until the next call touch only my slice of my own part:
  // the others may still read the rest.
  void reduce_scatter(const SharedRange& range, const Reduction& reduction, const CallId& call);
  // My slice of my part written into all others' parts.
  void all_gather(const SharedRange& range, const CallId& call);
  // Both in stretches of my slice: between begin_reduce and finish_scatter each is summed, into my own part,
  // and then written into the others' parts, in any order and with anything in between.
  void begin_reduce(const SharedRange& range, const Reduction& reduction, const CallId& call);
  void reduce_chunk(const SharedRange& range, const Reduction& reduction, const Slice& chunk);
  void scatter_result(const SharedRange& range, const Slice& chunk);
  void finish_scatter(const SharedRange& range, const CallId& call);
  // The sum of all parts in my own part.
  void all_reduce(const SharedRange& range, const Reduction& reduction, const CallId& call);
  // The sum of all parts in the root's part; the others keep what they hold.
  void reduce(const SharedRange& range, const Reduction& reduction, int root, const CallId& call);
  // My slice of all parts, added up, in `sums`. Between begin_reduce and finish_scatter.
  void reduce_slice(const SharedRange& range, const Reduction& reduction, std::byte* sums);
  // The root's part in mine.
  void broadcast(const SharedRange& range, int root, const CallId& call);
  void barrier(const CallId& call);
  void rendezvous(const CallInfo& info);  // NodeBarrier's
  void check_errors() const;

  // The sum once and its use once per host: `update` gets my slice in blocks that fit the caches, one after
  // the other, each with its sums. The parts keep what they held. When this returns, all ranks' updates are
  // done.
  using Update = std::function<void(const Slice& block, const std::byte* sums)>;
  void reduce_update(const SharedRange& range, const Reduction& reduction, const CallId& call,
                     const Update& update);

  // The same for memory that only this process sees.
  void reduce_scatter(std::byte* data, std::size_t count, const Reduction& reduction, const CallId& call);
  void all_gather(std::byte* data, std::size_t count, DataType type, const CallId& call);
  void all_reduce(std::byte* data, std::size_t count, const Reduction& reduction, const CallId& call);
  void broadcast(std::byte* data, std::size_t count, DataType type, int root, const CallId& call);
  // The sum at the root only; and all slices there.
  void reduce(std::byte* data, std::size_t count, const Reduction& reduction, int root, const CallId& call);
  void gather(std::byte* data, std::size_t count, DataType type, int root, const CallId& call);

  // For an error that this rank met elsewhere, on a wire: the host's other ranks throw it too instead of
  // waiting.
  void report_failure(const Error& error) noexcept;

  void set_inspector(LivenessInspector* inspector, std::vector<int> ranks);  // NodeBarrier's
  // Called when a wait takes long; and the state of this rank, for the others, from any thread.
  void set_stall_watch(StallWatch watch);
  void set_progress(std::uint64_t state) noexcept;
  void end(ContextEnd how) noexcept;  // NodeBarrier's

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddl
