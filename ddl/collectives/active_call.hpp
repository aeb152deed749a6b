// SPDX-License-Identifier: MIT
// The collective call in progress on this rank: its name for error messages and stall reports. One thread at
// a time begins calls; the waits inside a call read the name on the same thread.
#pragma once

#include "ddl/core/call_info.hpp"
#include "ddl/ddl.hpp"
#include "ddl/stall.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ddl {

class ActiveCallTracker {
 public:
  // Until end(). `tensor` must outlive the call.
  void begin(OpType op, std::uint64_t number, const Tensor& tensor) {
    call_ = ActiveCall{op, number, &tensor};
  }
  void end() noexcept { call_.reset(); }

  // "all_reduce #812 of 4096 float32 "conv1""; "this call" where none is in progress.
  std::string name() const;
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
  };
  std::optional<ActiveCall> call_;
};

}  // namespace ddl
