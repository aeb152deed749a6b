// SPDX-License-Identifier: MIT
// Ends a run whose loss, gradients or weights are not finite. Collective: all ranks throw the same
// CollectiveError.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/lr_schedule.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::runtime {

struct StepContext {
  std::size_t step = 0;  // from 0
  const LrSchedule& schedule;
  bool advise_clip = false;  // gradients are not clipped, and could be
};

// Options for a lower learning rate: "--lr 0.002 --clip 5 --warmup-steps 16", or a rate that does not grow.
// `scaled`: the number of ranks may have scaled --lr.
std::string suggest_lower_rate(const StepContext& place, bool scaled);

// The loss or the gradients of some rank are not finite; `mine`: those of this rank. The error names the
// ranks.
[[noreturn]] void throw_not_finite(Communicator& ranks, bool mine, const StepContext& place);
// The gradients of each rank are finite, but their sum is not.
[[noreturn]] void throw_sum_not_finite(const StepContext& place);
// A weight is not finite; called before a checkpoint is written.
[[noreturn]] void throw_weights_not_finite(const StepContext& place);

}  // namespace ddlrun::runtime
