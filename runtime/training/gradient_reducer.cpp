// SPDX-License-Identifier: MIT
#include "runtime/training/gradient_reducer.hpp"

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
  if (ranks.narrows_sums()) head_sums_.resize(head_);
  use({});
}

void StepSums::use(const SumWay& way) {
  way_ = way;
  buckets_ = plan_travel(net_, head_, way);
  head_bucket_ = find_head(buckets_);
  times_.assign(buckets_.size(), {});
  done_ = buckets_.size();
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
  coming_ = rates;
  sent_ = 0;
  armed_ = true;
}

// The first gradients of a step: those of the step before have been used, unless its forward pass read
// nothing.
void StepSums::open() {
  if (sent_ > 0) return;
  settle();
  rates_ = coming_;
  done_ = 0;
}

// The head is known last, and what travels behind it waits for it.
void StepSums::gradients_final(std::size_t from) {
  if (!armed_ || !way_.overlap) return;
  const auto begin = TraceClock::now();
  const std::size_t before = sent_;
  while (sent_ < head_bucket_ && is_final(buckets_[sent_], head_, from)) {
    open();
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
  open();
  const auto begin = TraceClock::now();
  for (std::size_t i = sent_; i < buckets_.size(); ++i) prepare(buckets_[i]);
  std::copy(totals.begin(), totals.end(), flat_.begin());
  if (!own_finite_) flat_[bad_total] = 1.0F;
  std::copy(layer_state.begin(), layer_state.end(), flat_.begin() + total_count);
  keeps_ = false;
  tell_prepared(begin);
  while (way_.overlap && sent_ < buckets_.size()) send(sent_++);
  const bool finite = wait_and_learn(head_bucket_ + 1);
  if (weights_.one_a_host()) std::copy_n(host_head_.begin(), head_, flat_.begin());
  std::copy(head_sums_.begin(), head_sums_.end(), flat_.begin());
  return finite;
}

bool StepSums::need(std::size_t begin, std::size_t end) {
  std::size_t count = buckets_.size();
  while (count > done_ &&
         (buckets_[count - 1].end <= head_ + begin || buckets_[count - 1].begin >= head_ + end))
    --count;
  return count <= done_ || wait_and_learn(count);
}

bool StepSums::settle() { return !under_way() || wait_and_learn(buckets_.size()); }

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
  if (bucket == head_bucket_ && !head_sums_.empty()) ranks_.all_reduce_sum(flat_.first(head_), head_sums_);
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

// The first `count` buckets: those behind them go on travelling.
bool StepSums::wait_and_learn(std::size_t count) {
  const auto updated = update_time_.load();
  const auto start = TraceClock::now();
  TraceClock::duration learning{};
  const std::size_t first = done_;
  for (; done_ < count; ++done_) {
    if (!way_.overlap) {
      sum(done_);
    } else if (!weights_.one_a_host() || done_ + 1 == count) {
      wait(done_);  // and thus for all before it
    }
    if (!weights_.one_a_host() && !norms_) learning += learn(buckets_[done_]);
  }
  if (norms_ && !under_way()) learning += learn({head_, flat_.size()});
  if (weights_.one_a_host()) learning = TraceClock::duration(update_time_.load() - updated);
  for (std::size_t i = first; i < count; ++i)
    costs_.sum_seconds += seconds_of(times_[i].end - times_[i].begin - times_[i].update);
  const auto held = TraceClock::now() - start;
  costs_.held_seconds += seconds_of(held);
  costs_.exposed_seconds += std::max(0.0, seconds_of(held - learning));
  // While sums are under way others may still raise a flag; at their end all ranks see the same.
  if (under_way()) return true;
  if (weights_.one_a_host()) sums_finite_ = sums_finite_ && flags_are_clear();
  return sums_finite_;
}

bool StepSums::flags_are_clear() const {
  for (std::size_t at = head_; at < host_head_.size(); at += flag_floats) {
    if (host_head_[at] != 0.0F) return false;
  }
  return true;
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
