// SPDX-License-Identifier: MIT
// The collective call in progress on this rank: its name for error messages and stall reports. One thread at
// a time begins calls; the waits inside a call read the name on the same thread.
#pragma once

#include "ddl/core/call_record.hpp"
#include "ddl/core/rank_group.hpp"
#include "ddl/ddl.hpp"
#include "ddl/stall.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace ddl {

class ActiveCallTracker {
 public:
  // Until end(). `tensor` must outlive the call, `group` all that is asked before forget().
  void begin(const CallInfo& info, const Tensor& tensor, const RankGroup& group);
  void end() noexcept { call_.reset(); }
  // No call of `group` is known any more.
  void forget(const RankGroup& group) noexcept;

  // "all_reduce #812 (sum) of 4096 float32 "conv1""; "this call" where none is in progress.
  std::string name() const;
  // The call in progress, for comparing it with another rank's; sequence 0 where none is.
  CallSummary summary() const;
  // The group's call of that sequence, while it is one of the last few; else as summary().
  CallSummary summary(std::uint64_t group, std::uint64_t sequence) const;
  // `watch` with the call's number and tensor added to each Stall. The tracker outlives it.
  StallWatch name_stalls(const StallWatch& watch) const;

  // Ends the call when the scope ends, also by an exception.
  class Scope {
   public:
    explicit Scope(ActiveCallTracker& tracker) : tracker_(tracker) {}
    ~Scope() { tracker_.end(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ActiveCallTracker& tracker_;
  };

 private:
  struct ActiveCall {
    OpType op;
    std::uint64_t number;
    const Tensor* tensor;
    const RankGroup* group;
  };
  // One number may have several parts, such as the groups of all_reduce_n: each has a sequence of its own.
  struct PastCall {
    std::uint64_t sequence = 0;
    CallRecord record{};
    const RankGroup* group = nullptr;
  };
  const PastCall& last() const { return past_[newest_]; }

  std::optional<ActiveCall> call_;
  std::array<PastCall, 8> past_{};
  std::size_t newest_ = 0;
};

}  // namespace ddl
