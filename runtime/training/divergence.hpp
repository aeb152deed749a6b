// SPDX-License-Identifier: MIT
// How a run ends when numbers are no numbers any more. Collective: all ranks throw the same CollectiveError.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/lr_schedule.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::runtime {

struct StepContext {
  std::size_t step = 0;  // from 0
  const LrSchedule& schedule;
};

// What to type to learn slower: "--lr 0.002 --warmup-steps 16", or a rate that does not grow. `scaled`: the
// ranks may have made the rate larger than --lr.
std::string suggest_lower_rate(const StepContext& place, bool scaled);

// Some rank's loss or gradients are not finite; `mine`: this one's. Names the ranks.
[[noreturn]] void throw_not_finite(Communicator& ranks, bool mine, const StepContext& place);
// Each rank's gradients are finite, their sum is not.
[[noreturn]] void throw_sum_not_finite(const StepContext& place);
// Before saving.
[[noreturn]] void throw_weights_not_finite(const StepContext& place);

}  // namespace ddlrun::runtime
