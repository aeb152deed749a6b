// SPDX-License-Identifier: MIT
#include "runtime/training/train_ways.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t usual_bucket = std::size_t{1} << 20U;

}  // namespace

bool updates_for_host(const TrainPlan& plan, const Communicator& ranks) {
  return ranks.size() > 1 && !needs_norms(plan.rule) && plan.update != UpdatePlace::rank;
}

std::vector<SumWay> choose_ways(const TrainPlan& plan, const Net& net, const Communicator& ranks) {
  if (ranks.size() == 1 || plan.overlap == Overlap::off) return {{}};
  std::vector<std::size_t> sizes{std::size_t{64} << 10U, std::size_t{256} << 10U, usual_bucket,
                                 std::size_t{4} << 20U, std::size_t{16} << 20U};
  if (plan.bucket_bytes != 0) sizes = {plan.bucket_bytes};
  // Another cut would be other bits: nothing is tried, so that each run is the same.
  if (!ranks.sums_ignore_cuts()) return {{true, plan.bucket_bytes != 0 ? plan.bucket_bytes : usual_bucket}};
  const std::vector<bool> overlap =
      plan.overlap == Overlap::on ? std::vector<bool>{true} : std::vector<bool>{false, true};
  return plan_ways(net, head_count(total_count + net.state_count), overlap, sizes);
}

void take_exact_steps(TrainPlan& plan, std::size_t steps) {
  if (steps == 0) return;
  plan.max_steps = steps;
  plan.epochs = (steps + plan.steps_per_epoch - 1) / plan.steps_per_epoch;
}

void check_accumulation(const TrainPlan& plan, std::size_t ranks) {
  const std::size_t images = plan.global_batch / ranks;
  if (images % plan.accumulate == 0) return;
  const std::size_t unit = ranks * plan.accumulate;
  const std::size_t near = std::max<std::size_t>(plan.global_batch / unit, 1) * unit;
  throw Error(ErrorKind::usage,
              {fmt::format("{} images of a rank and step cannot be divided by --accumulate {}", images,
                           plan.accumulate),
               "command line", fmt::format("--global-batch {}", near)});
}

}  // namespace ddlrun::runtime
