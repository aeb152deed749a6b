// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/shard_server.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::runtime {
namespace {

// The parts of the runs that lie in the shard, counted from its first element.
std::vector<ParamGroup> cut_param_groups(std::span<const ParamGroup> rates, const Range& shard) {
  std::vector<ParamGroup> cut;
  for (const ParamGroup& run : rates) {
    const std::size_t begin = std::max(run.range.begin, shard.begin);
    const std::size_t end = std::min(run.range.end, shard.end);
    if (begin < end)
      cut.push_back({{begin - shard.begin, end - shard.begin}, run.lr_factor, run.decay_factor});
  }
  return cut;
}

}  // namespace

ShardServer::ShardServer(ServerPlan plan, Range shard, std::span<const ParamGroup> rates,
                         std::vector<float> weights, std::vector<std::vector<float>> state)
    : plan_(std::move(plan)),
      rates_(cut_param_groups(rates, shard)),
      weights_(std::move(weights)),
      state_(std::move(state)),
      done_(plan_.workers, plan_.first_step),
      pulled_(plan_.workers, 0),
      waits_(plan_.workers, false),
      gradients_(plan_.workers) {}

std::size_t ShardServer::done() const { return *std::min_element(done_.begin(), done_.end()); }

std::vector<std::size_t> ShardServer::awaited() const {
  const std::size_t slowest = done();
  std::vector<std::size_t> workers;
  for (std::size_t worker = 0; worker < done_.size(); ++worker) {
    if (plan_.asynchronous ? !waits_[worker] : done_[worker] == slowest) workers.push_back(worker);
  }
  return workers;
}

std::vector<std::size_t> ShardServer::push(std::size_t worker, std::span<const float> gradients) {
  return plan_.asynchronous ? push_at_once(worker, gradients) : push_together(worker, gradients);
}

std::vector<std::size_t> ShardServer::push_at_once(std::size_t worker, std::span<const float> gradients) {
  const std::uint64_t missed = updates_ - pulled_[worker];
  seen_.pushes += 1;
  seen_.sum += missed;
  seen_.most = std::max(seen_.most, missed);
  update(gradients, done_[worker]);
  done_[worker] += 1;
  waits_[worker] = true;
  const std::size_t slowest = done();
  std::vector<std::size_t> free;
  for (std::size_t other = 0; other < done_.size(); ++other) {
    if (!waits_[other] || done_[other] - slowest > plan_.staleness) continue;
    waits_[other] = false;
    pulled_[other] = updates_;
    free.push_back(other);
  }
  return free;
}

std::vector<std::size_t> ShardServer::push_together(std::size_t worker, std::span<const float> gradients) {
  gradients_[worker].assign(gradients.begin(), gradients.end());
  done_[worker] += 1;
  const std::size_t step = done();
  if (std::any_of(done_.begin(), done_.end(), [&](std::size_t done) { return done != step; })) return {};
  std::vector<float>& sum = gradients_.front();
  for (std::size_t other = 1; other < gradients_.size(); ++other) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradients_[other][i];
  }
  update(sum, step - 1);
  std::vector<std::size_t> all(done_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

void ShardServer::update(std::span<const float> gradients, std::size_t step) {
  OptimizerState learning{weights_, {}};
  for (std::vector<float>& one : state_) learning.state.emplace_back(one);
  update_range(plan_.optimizer, rates_, {learning_rate(plan_.schedule, step), step, 1.0},
               {0, weights_.size()}, gradients, learning);
  updates_ += 1;
}

// The worker with the most pushes may be one step further; all others come that far.
std::size_t ShardServer::stop() {
  if (!end_step_) end_step_ = *std::max_element(done_.begin(), done_.end()) + 1;
  return *end_step_;
}

}  // namespace ddlrun::runtime
