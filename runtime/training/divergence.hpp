// SPDX-License-Identifier: MIT
// How a run ends when numbers are no numbers any more. Collective: all ranks throw the same AgreedError.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/training/lr_schedule.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::runtime {

struct StepPlace {
  std::size_t step = 0;  // from 0
  const LrSchedule& schedule;
};

// What to type to learn slower: "--lr 0.002 --warmup-steps 16", or a rate that does not grow. `scaled`: the
// ranks may have made the rate larger than --lr.
std::string plan_slower(const StepPlace& place, bool scaled);

// Some rank's loss or gradients are not finite; `mine`: this one's. Names the ranks.
[[noreturn]] void refuse_not_finite(Communicator& ranks, bool mine, const StepPlace& place);
// Each rank's gradients are finite, their sum is not.
[[noreturn]] void refuse_sums(const StepPlace& place);
// Before saving.
[[noreturn]] void refuse_weights(const StepPlace& place);

}  // namespace ddlrun::runtime
