// SPDX-License-Identifier: MIT
// The barrier of one node's ranks, on flags in shared memory: one cache line for each rank holds how often
// the rank has arrived and a CallRecord of its call. All ranks compare the records, so a different call is
// Error(mismatch) on all.
//
//   arrive -> spin 20 us -> yield 200 us -> sleep on a futex -> compare records -> return
//               |             |               |  every 100 ms: has a rank ended? is the timeout over?
//               +-------------+---------------+-> a rank wrote a FailureReport: throw its Error
//
// States of the FailureReport: 0 none, 1 being written, 2 complete. The first error stays; every later call
// throws it. Oversubscribed nodes skip the spinning. One thread of each rank uses a NodeBarrier;
// set_progress() is for any thread.
#pragma once

#include "ddl/core/call_info.hpp"
#include "ddl/core/context_end.hpp"
#include "ddl/error.hpp"
#include "ddl/node/node_comm.hpp"
#include "ddl/stall.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

class LivenessInspector;

class NodeBarrier {
 public:
  // `block` is zeroed, with at least bytes_needed() at the start of each part; used by this barrier alone.
  // `suffix`: behind the calls in messages, RankGroup::suffix().
  NodeBarrier(NodeComm& group, std::shared_ptr<SharedBuffer> block, double timeout_seconds,
              std::string suffix = "");
  ~NodeBarrier();
  NodeBarrier(const NodeBarrier&) = delete;
  NodeBarrier& operator=(const NodeBarrier&) = delete;

  static std::size_t bytes_needed();

  // Returns when all ranks are here. What they wrote before is seen after.
  void rendezvous(const CallInfo& info);
  // For who waits elsewhere: throws the error that another rank has met.
  void check_errors() const;
  // More ranks than cores that they may use.
  bool oversubscribed() const;
  // Makes all ranks throw this error, or the one that came first.
  void report_failure(const Error& error) noexcept;

  // Called when a wait takes long, by the first of the waiting ranks.
  void set_stall_watch(StallWatch watch);
  // Who is asked before a rank is blamed: it may wait for one of another host. `ranks`: the local ones' in
  // the whole job.
  void set_inspector(LivenessInspector* inspector, std::vector<int> ranks);
  // What this rank is at, for the others; from any thread.
  void set_progress(std::uint64_t state) noexcept;
  // This rank does not come any more: ranks waiting for it get an error.
  void end(ContextEnd how) noexcept;

 private:
  struct Shared;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddl
