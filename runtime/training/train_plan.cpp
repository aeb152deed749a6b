// SPDX-License-Identifier: MIT
#include "runtime/training/train_plan.hpp"

#include "base/text/error.hpp"
#include "runtime/data/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {

std::size_t steps_of_epoch(const TrainPlan& plan, std::size_t images) {
  return plan.steps_per_epoch != 0 ? plan.steps_per_epoch : steps_per_epoch(images, plan.global_batch);
}

std::size_t total_steps(const TrainPlan& plan, std::size_t images) {
  const std::size_t steps = plan.epochs * steps_of_epoch(plan, images);
  return plan.max_steps == 0 ? steps : std::min(steps, plan.max_steps);
}

void set_total_steps(TrainPlan& plan, std::size_t steps) {
  if (steps == 0) return;
  plan.max_steps = steps;
  plan.epochs = (steps + plan.steps_per_epoch - 1) / plan.steps_per_epoch;
}

bool clips_no_gradients(const TrainPlan& plan) {
  return plan.optimizer.clip == 0.0 && plan.overlap != Overlap::across &&
         plan.placement != OptimizerPlacement::host;
}

void check_accumulation(const TrainPlan& plan, std::size_t ranks) {
  const std::size_t images = plan.global_batch / ranks;
  if (images % plan.accumulate == 0) return;
  const std::size_t unit = ranks * plan.accumulate;
  const std::size_t near = std::max<std::size_t>(plan.global_batch / unit, 1) * unit;
  throw Error(ErrorKind::usage,
              {fmt::format("{} images per rank and step cannot be divided by --gradient-accumulation {}",
                           images, plan.accumulate),
               "command line", fmt::format("--global-batch {}", near)});
}

}  // namespace ddlrun::runtime
