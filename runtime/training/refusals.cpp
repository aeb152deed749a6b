// SPDX-License-Identifier: MIT
#include "runtime/training/refusals.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

std::string slower_hint(double lr) { return fmt::format("--lr {:.3g} --warmup-steps 100", lr / 10.0); }

}  // namespace

// All ranks know from the sum that some rank failed; now they ask which.
void refuse_not_finite(Communicator& ranks, bool mine, const StepPlace& place) {
  std::string bad;
  for (const std::string& name : ranks.gather_all(mine ? rank_name(ranks) : "")) {
    if (!name.empty()) bad += (bad.empty() ? "" : ", ") + name;
  }
  throw AgreedError(ErrorKind::request,
                    {fmt::format("the loss or a gradient is not finite (NaN or infinite) in step {} of {}",
                                 place.step + 1, place.schedule.total_steps),
                     bad, slower_hint(learning_rate(place.schedule, place.step))});
}

void refuse_sums(const StepPlace& place) {
  throw AgreedError(
      ErrorKind::request,
      {fmt::format("the gradients of all ranks together are too large for float32 in step {} of {}",
                   place.step + 1, place.schedule.total_steps),
       "each rank's own are finite", slower_hint(learning_rate(place.schedule, place.step))});
}

void refuse_weights(const StepPlace& place) {
  throw AgreedError(
      ErrorKind::request,
      {fmt::format("a weight is not finite (NaN or infinite) after step {}", place.step),
       "nothing is saved; the checkpoint before is the last", slower_hint(place.schedule.peak)});
}

}  // namespace ddlrun::runtime
