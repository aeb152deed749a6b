// SPDX-License-Identifier: MIT
#include "runtime/training/gradient_reducer.hpp"

#include "runtime/core/parallel.hpp"
#include "runtime/training/finite.hpp"

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t flag_floats = 16;  // a cache line for each rank's flag

double seconds_of(TraceClock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

GradientReducer::GradientReducer(const Net& net, Communicator& ranks, Weights& weights,
                                 const Optimizer& optimizer, const ReductionTrace* trace)
    : net_(net),
      ranks_(ranks),
      weights_(weights),
      trace_(trace),
      needs_norms_(needs_norms(optimizer)),
      metadata_(metadata_count(total_count + net.state_count)),
      flat_(ranks.allocate(metadata_ + net.parameter_count)) {
  if (weights.host_shared()) {
    host_metadata_ =
        ranks.allocate_host_shared(metadata_ + flag_floats * static_cast<std::size_t>(ranks.local_size()));
  }
  if (ranks.reduces_precision()) metadata_sums_.resize(metadata_);
  set_schedule({});
}

GradientReducer::~GradientReducer() {
  leaving_ = true;
  for (const Times& times : times_) {
    try {
      ddl::Handle(times.work).wait();
    } catch (...) {  // the training ends with that exception or with an earlier one
    }
  }
}

void GradientReducer::set_schedule(const ReduceSchedule& schedule) {
  schedule_ = schedule;
  buckets_ = order_buckets(net_, metadata_, schedule);
  metadata_bucket_ = find_metadata_bucket(buckets_);
  times_.assign(buckets_.size(), {});
  done_ = buckets_.size();
  names_.clear();
  for (const Range& bucket : buckets_) names_.push_back(name_bucket(net_, metadata_, bucket));
}

void GradientReducer::accumulate(bool first) {
  const std::span<const float> fresh = gradients();
  if (first) {
    accumulated_.assign(fresh.begin(), fresh.end());
  } else {
    for (std::size_t i = 0; i < fresh.size(); ++i) accumulated_[i] += fresh[i];
  }
  accumulates_ = true;
}

void GradientReducer::begin(const StepHyperparams& hyperparams) {
  next_hyperparams_ = hyperparams;
  sent_ = 0;
  armed_ = true;
}

// Before the first bucket of a step: the previous step's have been applied, unless the forward pass read no
// parameters.
void GradientReducer::open() {
  if (sent_ > 0) return;
  drain();
  hyperparams_ = next_hyperparams_;
  done_ = 0;
}

// The metadata is known last, and what travels behind it waits for it.
void GradientReducer::gradients_final(std::size_t from) {
  if (!armed_ || !schedule_.overlap) return;
  const auto begin = TraceClock::now();
  const std::size_t before = sent_;
  while (sent_ < metadata_bucket_ && is_final(buckets_[sent_], metadata_, from)) {
    open();
    check_finite(buckets_[sent_]);
    send(sent_++);
  }
  if (sent_ > before) record_check(begin);
}

void GradientReducer::record_check(TraceClock::time_point begin) const {
  if (trace_ != nullptr)
    trace_->sink->span(TraceLane::compute, trace_->check_finite, begin, TraceClock::now());
}

bool GradientReducer::finish(std::span<const float> totals, std::span<const float> layer_state) {
  armed_ = false;
  open();
  const auto begin = TraceClock::now();
  for (std::size_t i = sent_; i < buckets_.size(); ++i) check_finite(buckets_[i]);
  std::copy(totals.begin(), totals.end(), flat_.begin());
  if (!own_finite_) flat_[nonfinite_total] = 1.0F;
  std::copy(layer_state.begin(), layer_state.end(), flat_.begin() + total_count);
  accumulates_ = false;
  record_check(begin);
  while (schedule_.overlap && sent_ < buckets_.size()) send(sent_++);
  const bool finite = wait_and_apply(metadata_bucket_ + 1);
  if (weights_.host_shared()) std::copy_n(host_metadata_.begin(), metadata_, flat_.begin());
  std::copy(metadata_sums_.begin(), metadata_sums_.end(), flat_.begin());
  return finite;
}

bool GradientReducer::wait_for(std::size_t begin, std::size_t end) {
  std::size_t count = buckets_.size();
  while (count > done_ &&
         (buckets_[count - 1].end <= metadata_ + begin || buckets_[count - 1].begin >= metadata_ + end))
    --count;
  return count <= done_ || wait_and_apply(count);
}

bool GradientReducer::drain() { return !in_flight() || wait_and_apply(buckets_.size()); }

// On the thread that computes: there the numbers are still in its caches.
void GradientReducer::check_finite(const Range& range) {
  const std::size_t begin = std::max(range.begin, metadata_);
  const std::span<float> mine = part({begin, range.end});
  const bool finite = all_chunks(mine.size(), [&](const Range& chunk) {
    if (accumulates_) {
      for (std::size_t i = chunk.begin; i < chunk.end; ++i) mine[i] += accumulated_[begin - metadata_ + i];
    }
    return all_finite(mine.subspan(chunk.begin, chunk.end - chunk.begin));
  });
  own_finite_ = own_finite_ && finite;
}

void GradientReducer::send(std::size_t bucket) {
  if (trace_ != nullptr) {
    const auto ready = TraceClock::now();
    trace_->sink->span(TraceLane::compute, trace_->buckets.at(bucket), ready, ready);
  }
  times_[bucket].work = ranks_.start([this, bucket] {
    if (failure_) std::rethrow_exception(failure_);
    if (leaving_) return;
    try {
      sum(bucket);
    } catch (...) {
      failure_ = std::current_exception();
      throw;
    }
  });
}

void GradientReducer::wait(std::size_t bucket) {
  const auto start = TraceClock::now();
  times_[bucket].work.wait();
  if (trace_ != nullptr) trace_->sink->span(TraceLane::compute, trace_->wait, start, TraceClock::now());
}

void GradientReducer::sum(std::size_t bucket) {
  const Range& range = buckets_[bucket];
  Times& times = times_[bucket];
  times.update = {};
  times.begin = TraceClock::now();
  if (bucket == metadata_bucket_ && !metadata_sums_.empty())
    ranks_.all_reduce_sum(flat_.first(metadata_), metadata_sums_);
  if (weights_.host_shared()) {
    ranks_.all_reduce_update(part(range), names_[bucket],
                             [&](std::size_t first, std::span<const float> sums) {
                               const auto start = TraceClock::now();
                               apply_sums(range.begin + first, sums);
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

// A share of the sums: the metadata goes to all ranks of the host, the weights apply from the rest.
void GradientReducer::apply_sums(std::size_t begin, std::span<const float> sums) {
  if (begin < metadata_) {
    const std::span<const float> metadata = sums.first(std::min(sums.size(), metadata_ - begin));
    std::copy(metadata.begin(), metadata.end(), host_metadata_.subspan(begin).begin());
    sums = sums.subspan(metadata.size());
    begin = metadata_;
  }
  if (!weights_.apply(begin - metadata_, sums, hyperparams_)) {
    host_metadata_[metadata_ + flag_floats * static_cast<std::size_t>(ranks_.local_rank())] = 1.0F;
  }
}

// The first `count` buckets: those behind them go on travelling.
bool GradientReducer::wait_and_apply(std::size_t count) {
  const auto updated = update_time_.load();
  const auto start = TraceClock::now();
  TraceClock::duration applying{};
  const std::size_t first = done_;
  for (; done_ < count; ++done_) {
    if (!schedule_.overlap) {
      sum(done_);
    } else if (!weights_.host_shared() || done_ + 1 == count) {
      wait(done_);  // and for all before it
    }
    if (!weights_.host_shared() && !needs_norms_) applying += apply(buckets_[done_]);
  }
  if (needs_norms_ && !in_flight()) applying += apply({metadata_, flat_.size()});
  if (weights_.host_shared()) applying = TraceClock::duration(update_time_.load() - updated);
  for (std::size_t i = first; i < count; ++i)
    costs_.sum_seconds += seconds_of(times_[i].end - times_[i].begin - times_[i].update);
  const auto held = TraceClock::now() - start;
  costs_.held_seconds += seconds_of(held);
  costs_.exposed_seconds += std::max(0.0, seconds_of(held - applying));
  // While sums are in flight other ranks may still set a flag; at the end all ranks read the same flags.
  if (in_flight()) return true;
  if (weights_.host_shared()) sums_finite_ = sums_finite_ && flags_are_clear();
  return sums_finite_;
}

bool GradientReducer::flags_are_clear() const {
  for (std::size_t at = metadata_; at < host_metadata_.size(); at += flag_floats) {
    if (host_metadata_[at] != 0.0F) return false;
  }
  return true;
}

// On the thread that computes, whose other threads wait meanwhile.
TraceClock::duration GradientReducer::apply(const Range& range) {
  const auto start = TraceClock::now();
  const std::size_t begin = std::max(range.begin, metadata_);
  const std::span<const float> sums = part({begin, range.end});
  const auto apply_chunk = [&](const Range& chunk) {
    return weights_.apply(begin - metadata_ + chunk.begin, sums.subspan(chunk.begin, chunk.end - chunk.begin),
                          hyperparams_);
  };
  const bool good =
      needs_norms_ ? weights_.apply_all(sums, hyperparams_) : all_chunks(sums.size(), apply_chunk);
  sums_finite_ = sums_finite_ && good;
  const auto end = TraceClock::now();
  if (trace_ != nullptr) trace_->sink->span(TraceLane::compute, trace_->update, start, end);
  return end - start;
}

}  // namespace ddlrun::runtime
