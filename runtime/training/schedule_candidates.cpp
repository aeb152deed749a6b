// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_candidates.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t usual_bucket = std::size_t{1} << 20U;

// Norms need all sums before anything is learnt. An engine on GPUs copies all weights before its first kernel
// and has its gradients at the end of the last one: nothing could travel in between.
bool can_go_across(const TrainPlan& plan, bool reads_told) { return reads_told && !needs_norms(plan.rule); }

}  // namespace

bool updates_for_host(const TrainPlan& plan, const Communicator& ranks) {
  return ranks.size() > 1 && !needs_norms(plan.rule) && plan.update != UpdatePlace::rank;
}

std::vector<SumWay> choose_ways(const TrainPlan& plan, const Net& net, const Communicator& ranks,
                                bool reads_told) {
  if (ranks.size() == 1 || plan.overlap == Overlap::off) return {{}};
  std::vector<std::size_t> sizes{std::size_t{64} << 10U, std::size_t{256} << 10U, usual_bucket,
                                 std::size_t{4} << 20U, std::size_t{16} << 20U};
  if (plan.bucket_bytes != 0) sizes = {plan.bucket_bytes};
  const std::size_t head = head_count(total_count + net.state_count);
  const std::vector<SumWay> across = can_go_across(plan, reads_told)
                                         ? plan_ways_across(net, head, plan.bucket_bytes)
                                         : std::vector<SumWay>{};
  const bool only_across = plan.overlap == Overlap::across && !across.empty();
  // Another cut would be other bits: nothing is tried, so that each run is the same.
  if (!ranks.sums_ignore_cuts()) {
    return {only_across ? across[across.size() / 2]
                        : SumWay{true, plan.bucket_bytes != 0 ? plan.bucket_bytes : usual_bucket}};
  }
  if (only_across) return across;
  std::vector<SumWay> ways = plan_ways(
      net, head,
      plan.overlap == Overlap::automatic ? std::vector<bool>{false, true} : std::vector<bool>{true}, sizes);
  if (plan.overlap == Overlap::automatic) ways.insert(ways.end(), across.begin(), across.end());
  return ways;
}

}  // namespace ddlrun::runtime
