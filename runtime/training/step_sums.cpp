// SPDX-License-Identifier: MIT
#include "runtime/training/step_sums.hpp"

#include "runtime/training/finite.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t flag_floats = 16;  // a cache line for each rank's flag

double seconds_of(TraceClock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

StepSums::StepSums(const Net& net, Communicator& ranks, Weights& weights, const UpdateRule& rule,
                   const SumTrace* trace)
    : net_(net),
      ranks_(ranks),
      weights_(weights),
      trace_(trace),
      norms_(needs_norms(rule)),
      head_(head_count(total_count + net.state_count)),
      flat_(ranks.allocate(head_ + net.parameter_count)) {
  if (weights.one_a_host()) {
    host_head_ = ranks.allocate_for_host(head_ + flag_floats * static_cast<std::size_t>(ranks.local_size()));
  }
  use({});
}

void StepSums::use(const SumWay& way) {
  way_ = way;
  buckets_ = plan_buckets(net_, head_, way.overlap ? way.bucket_bytes : 0);
  times_.assign(buckets_.size(), {});
  names_.clear();
  for (const Range& bucket : buckets_) names_.push_back(name_bucket(net_, head_, bucket));
}

void StepSums::keep(bool first) {
  const std::span<const float> fresh = gradients();
  if (first) {
    kept_.assign(fresh.begin(), fresh.end());
  } else {
    for (std::size_t i = 0; i < fresh.size(); ++i) kept_[i] += fresh[i];
  }
  keeps_ = true;
}

void StepSums::begin(const StepRates& rates) {
  rates_ = rates;
  sent_ = 0;
  own_finite_ = sums_finite_ = true;
  armed_ = true;
}

void StepSums::gradients_final(std::size_t from) {
  if (!armed_ || !way_.overlap) return;
  const auto begin = TraceClock::now();
  const std::size_t before = sent_;
  while (sent_ < buckets_.size() && is_final(buckets_[sent_], head_, from)) {
    prepare(buckets_[sent_]);
    send(sent_++);
  }
  if (sent_ > before) tell_prepared(begin);
}

void StepSums::tell_prepared(TraceClock::time_point begin) const {
  if (trace_ != nullptr) trace_->sink->span(TraceLane::compute, trace_->prepare, begin, TraceClock::now());
}

bool StepSums::finish(std::span<const float> totals, std::span<const float> layer_state) {
  armed_ = false;
  const auto begin = TraceClock::now();
  for (std::size_t i = sent_; i < buckets_.size(); ++i) prepare(buckets_[i]);
  std::copy(totals.begin(), totals.end(), flat_.begin());
  if (!own_finite_) flat_[bad_total] = 1.0F;
  std::copy(layer_state.begin(), layer_state.end(), flat_.begin() + total_count);
  keeps_ = false;
  costs_ = {};
  tell_prepared(begin);
  wait_and_learn();
  for (const Times& times : times_) costs_.sum_seconds += seconds_of(times.end - times.begin - times.update);
  return sums_finite_;
}

// On the thread that computes: there the numbers are still in its caches.
void StepSums::prepare(const Range& range) {
  const std::size_t begin = std::max(range.begin, head_);
  const std::span<float> mine = part({begin, range.end});
  if (keeps_) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += kept_[begin - head_ + i];
  }
  own_finite_ = own_finite_ && all_finite(mine);
}

void StepSums::send(std::size_t bucket) {
  if (trace_ != nullptr) {
    const auto ready = TraceClock::now();
    trace_->sink->span(TraceLane::compute, trace_->buckets.at(bucket), ready, ready);
  }
  times_[bucket].work = background_.start([this, bucket] { sum(bucket); });
}

void StepSums::wait(std::size_t bucket) {
  const auto start = TraceClock::now();
  background_.wait(times_[bucket].work);
  if (trace_ != nullptr) trace_->sink->span(TraceLane::compute, trace_->wait, start, TraceClock::now());
}

void StepSums::sum(std::size_t bucket) {
  const Range& range = buckets_[bucket];
  Times& times = times_[bucket];
  times.update = {};
  times.begin = TraceClock::now();
  if (weights_.one_a_host()) {
    ranks_.sum_for_host(part(range), names_[bucket], [&](std::size_t first, std::span<const float> sums) {
      const auto start = TraceClock::now();
      use_sums(range.begin + first, sums);
      times.update += TraceClock::now() - start;
    });
    update_time_.fetch_add(times.update.count());
  } else {
    ranks_.all_reduce_sum(part(range), names_[bucket]);
  }
  times.end = TraceClock::now();
  if (trace_ != nullptr) {
    trace_->sink->span(TraceLane::sums, trace_->buckets.at(bucket), times.begin, times.end,
                       part(range).size_bytes());
  }
}

// A share of the sums: the head goes to all ranks of the host, the weights learn from the rest.
void StepSums::use_sums(std::size_t begin, std::span<const float> sums) {
  if (begin < head_) {
    const std::span<const float> head = sums.first(std::min(sums.size(), head_ - begin));
    std::copy(head.begin(), head.end(), host_head_.subspan(begin).begin());
    sums = sums.subspan(head.size());
    begin = head_;
  }
  if (!weights_.learn(begin - head_, sums, rates_)) {
    host_head_[head_ + flag_floats * static_cast<std::size_t>(ranks_.local_rank())] = 1.0F;
  }
}

void StepSums::wait_and_learn() {
  const auto updated = update_time_.load();
  const auto start = TraceClock::now();
  if (way_.overlap) {
    while (sent_ < buckets_.size()) send(sent_++);
  } else {
    sum(0);
  }
  TraceClock::duration learning{};
  if (weights_.one_a_host()) {
    if (way_.overlap) wait(times_.size() - 1);
    std::copy_n(host_head_.begin(), head_, flat_.begin());
    for (std::size_t at = head_; at < host_head_.size(); at += flag_floats)
      sums_finite_ = sums_finite_ && host_head_[at] == 0.0F;
    learning = TraceClock::duration(update_time_.load() - updated);
  } else {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      if (way_.overlap) wait(i);
      if (!norms_) learning += learn(buckets_[i]);
    }
    if (norms_) learning += learn({head_, flat_.size()});
  }
  costs_.exposed_seconds = std::max(0.0, seconds_of(TraceClock::now() - start - learning));
}

TraceClock::duration StepSums::learn(const Range& range) {
  const auto start = TraceClock::now();
  const std::size_t begin = std::max(range.begin, head_);
  const std::span<const float> sums = part({begin, range.end});
  const bool good = norms_ ? weights_.learn_all(sums, rates_) : weights_.learn(begin - head_, sums, rates_);
  sums_finite_ = sums_finite_ && good;
  const auto end = TraceClock::now();
  if (trace_ != nullptr) trace_->sink->span(TraceLane::compute, trace_->update, start, end);
  return end - start;
}

}  // namespace ddlrun::runtime
