// SPDX-License-Identifier: MIT
// How a run ends when numbers are no numbers any more. Collective: all ranks throw the same AgreedError.
#pragma once

#include "runtime/ranks/communicator.hpp"
#include "runtime/training/schedule.hpp"

#include <cstddef>

namespace ddlrun::runtime {

struct StepPlace {
  std::size_t step = 0;  // from 0
  const LrSchedule& schedule;
};

// Some rank's loss or gradients are not finite; `mine`: this one's. Names the ranks.
[[noreturn]] void refuse_not_finite(Communicator& ranks, bool mine, const StepPlace& place);
// Each rank's gradients are finite, their sum is not.
[[noreturn]] void refuse_sums(const StepPlace& place);
// Before saving.
[[noreturn]] void refuse_weights(const StepPlace& place);

}  // namespace ddlrun::runtime
