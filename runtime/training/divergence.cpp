// SPDX-License-Identifier: MIT
#include "runtime/training/divergence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr double usual_rate = 0.02;  // --lr's default
constexpr std::size_t longest_warmup = 100;

std::string render_at_rate(const StepContext& place) {
  return fmt::format("in step {} of {}, at a learning rate of {:.3g}", place.step + 1,
                     place.schedule.total_steps, learning_rate(place.schedule, place.step));
}

}  // namespace

std::string suggest_lower_rate(const StepContext& place, bool scaled) {
  const LrSchedule& schedule = place.schedule;
  const double rate = learning_rate(schedule, place.step);
  // Only a gamma that makes it grow brings a rate above its peak.
  if (!(rate <= schedule.peak)) {
    return fmt::format("--lr-decay cosine   # gamma {} makes the rate grow, from {:.3g} to {:.3g}",
                       schedule.gamma, schedule.peak, rate);
  }
  const double reached = place.step < schedule.warmup_steps ? rate : schedule.peak;
  const std::string lr = fmt::format("--lr {:.3g}{}{}", std::min(reached / 10.0, usual_rate),
                                     scaled ? " --lr-scale none" : "", place.advise_clip ? " --clip 5" : "");
  const std::size_t warmup = std::min(schedule.total_steps / 10, longest_warmup);
  return warmup <= std::max<std::size_t>(schedule.warmup_steps, 1)
             ? lr
             : fmt::format("{} --warmup-steps {}", lr, warmup);
}

// All ranks know from the sum that some rank failed; now they ask which.
void throw_not_finite(Communicator& ranks, bool mine, const StepContext& place) {
  std::string bad;
  for (const std::string& name : ranks.gather_all(mine ? rank_name(ranks) : "")) {
    if (!name.empty()) bad += (bad.empty() ? "" : ", ") + name;
  }
  throw CollectiveError(
      ErrorKind::request,
      {fmt::format("the loss or a gradient is not finite (NaN or infinite) {}", render_at_rate(place)), bad,
       suggest_lower_rate(place, ranks.size() > 1)});
}

void throw_sum_not_finite(const StepContext& place) {
  throw CollectiveError(
      ErrorKind::request,
      {fmt::format("the sum of the gradients over all ranks overflows float32 {}", render_at_rate(place)),
       "the gradients of each rank are finite", suggest_lower_rate(place, true)});
}

void throw_weights_not_finite(const StepContext& place) {
  throw CollectiveError(
      ErrorKind::request,
      {fmt::format("a weight is not finite (NaN or infinite) after step {}", place.step),
       "not saved; the previous checkpoint is the latest", suggest_lower_rate(place, true)});
}

}  // namespace ddlrun::runtime
