// SPDX-License-Identifier: MIT
#include "runtime/training/schedule_candidates.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t usual_bucket = std::size_t{1} << 20U;

// Norms need all sums before anything is learnt. An engine on GPUs copies all weights before its first kernel
// and has its gradients at the end of the last one: nothing could travel in between.
bool can_go_across(const TrainPlan& plan, bool reports_reads) {
  return reports_reads && !needs_norms(plan.optimizer);
}

}  // namespace

bool shares_weights_on_host(const TrainPlan& plan, const Communicator& ranks) {
  return ranks.size() > 1 && !needs_norms(plan.optimizer) && plan.placement != OptimizerPlacement::rank;
}

std::vector<ReduceSchedule> schedule_candidates(const TrainPlan& plan, const Net& net,
                                                const Communicator& ranks, bool reports_reads) {
  if (ranks.size() == 1) return {{}};
  return schedules_of_several_ranks(plan, net, reports_reads, ranks.chunk_invariant_sums());
}

std::vector<ReduceSchedule> schedules_of_several_ranks(const TrainPlan& plan, const Net& net,
                                                       bool reports_reads, bool chunk_invariant) {
  if (plan.overlap == Overlap::off) return {{}};
  std::vector<std::size_t> sizes{std::size_t{64} << 10U, std::size_t{256} << 10U, usual_bucket,
                                 std::size_t{4} << 20U, std::size_t{16} << 20U};
  if (plan.bucket_bytes != 0) sizes = {plan.bucket_bytes};
  const std::size_t metadata = metadata_count(total_count + net.state_count);
  const std::vector<ReduceSchedule> across = can_go_across(plan, reports_reads)
                                                 ? plan_schedules_across(net, metadata, plan.bucket_bytes)
                                                 : std::vector<ReduceSchedule>{};
  const bool only_across = plan.overlap == Overlap::across && !across.empty();
  // Another cut would be other bits: nothing is tried, so that each run is the same.
  if (!chunk_invariant) {
    return {only_across ? across[across.size() / 2]
                        : ReduceSchedule{true, plan.bucket_bytes != 0 ? plan.bucket_bytes : usual_bucket}};
  }
  if (only_across) return across;
  std::vector<ReduceSchedule> schedules = plan_schedules(
      net, metadata,
      plan.overlap == Overlap::automatic ? std::vector<bool>{false, true} : std::vector<bool>{true}, sizes);
  if (plan.overlap == Overlap::automatic) schedules.insert(schedules.end(), across.begin(), across.end());
  return schedules;
}

}  // namespace ddlrun::runtime
