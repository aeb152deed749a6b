// SPDX-License-Identifier: MIT
// The sums of one step and what the weights apply from them: when each bucket starts, who waits for what, and
// what it cost.
//
// Sums across the border of a step are still under schedule after finish(). Then nobody may read weights or
// ask the other ranks for anything before drain(); but the next step's forward pass may begin, if it waits by
// wait_for() for each layer's own. That is enough for the gradients too: a layer's are written behind its
// forward pass, thus when their last sum has been used.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/worker_thread.hpp"
#include "runtime/core/trace.hpp"
#include "runtime/training/buckets.hpp"
#include "runtime/training/weights.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::runtime {

// Spans for sums and updates; the names must outlive the sink's use of them.
struct ReductionTrace {
  TraceSink* sink = nullptr;
  std::string update = "update";
  std::string check_finite = "check gradients";
  std::string wait = "wait for sums";
  std::vector<std::string> buckets;  // two more than layers at least
};

// The totals of a step, in the metadata of the flat vector.
enum Total : std::size_t { loss_total, correct_total, nonfinite_total, stop_total, total_count };

struct ReductionTimes {
  double exposed_seconds = 0.0;  // waited for sums with nothing else to do
  double sum_seconds = 0.0;      // all sums, from start to end
  double held_seconds = 0.0;     // waited and learnt, all in all
};

class GradientReducer {
 public:
  // Collective. All that is named outlives it; `trace` may be null.
  GradientReducer(const Net& net, Communicator& ranks, Weights& weights, const Optimizer& optimizer,
                  const ReductionTrace* trace);

  // Before a step only; nothing is under schedule.
  void set_schedule(const ReduceSchedule& schedule);
  const ReduceSchedule& schedule() const { return schedule_; }
  std::string describe() const { return render_reduce_schedule(schedule_, buckets_); }

  // Where a backward pass writes its gradients.
  std::span<float> gradients() const { return flat_.subspan(metadata_); }
  // Keeps the gradients of one of several micro-batches, to be added to those of the last one.
  void accumulate(bool first);

  // From here on gradients that are final may travel.
  void begin(const StepHyperparams& hyperparams);
  void gradients_final(std::size_t from);
  // Sends what has not travelled, with the metadata, waits for that and learns. False: a sum was not finite,
  // and the weights that it is for are as they were; the answer is the same on all ranks, and given when
  // nothing is under schedule any more: by the one of these three calls that waited for the last sum.
  bool finish(std::span<const float> totals, std::span<const float> layer_state);
  // A forward pass is about to read parameters [begin, end).
  bool wait_for(std::size_t begin, std::size_t end);
  // All that is under schedule.
  bool drain();

  // Of all ranks, after finish().
  double total(Total which) const { return static_cast<double>(flat_[which]); }
  std::span<const float> layer_state() const { return flat_.subspan(total_count, net_.state_count); }
  // Whether this rank's own gradients were.
  bool own_finite() const { return own_finite_; }
  // Since they were taken.
  const ReductionTimes& costs() const { return costs_; }
  ReductionTimes take_costs() { return std::exchange(costs_, {}); }

 private:
  struct Times {
    std::size_t work = 0;  // in worker_thread_
    TraceClock::time_point begin;
    TraceClock::time_point end;
    TraceClock::duration update{};  // within it
  };

  void open();
  void send(std::size_t bucket);
  void record_check(TraceClock::time_point begin) const;
  void wait(std::size_t bucket);
  void check_finite(const Range& range);
  void sum(std::size_t bucket);
  void apply_sums(std::size_t begin, std::span<const float> sums);
  bool under_way() const { return done_ < buckets_.size(); }
  bool wait_and_apply(std::size_t count);
  bool flags_are_clear() const;
  TraceClock::duration apply(const Range& range);
  std::span<float> part(const Range& range) const {
    return flat_.subspan(range.begin, range.end - range.begin);
  }

  const Net& net_;
  Communicator& ranks_;
  Weights& weights_;
  const ReductionTrace* trace_;
  bool needs_norms_;  // the optimizer learns from all sums together
  std::size_t metadata_;
  std::span<float> flat_;             // this rank's, then the sums
  std::span<float> host_metadata_;    // one copy a host: the metadata's sums, then a flag for each local rank
  std::vector<float> accumulated_;    // of earlier micro-batches
  std::vector<float> metadata_sums_;  // where gradients are narrowed on their schedule: the metadata is not
  ReduceSchedule schedule_;
  std::vector<Range> buckets_;  // as they travel
  std::size_t metadata_bucket_ = 0;
  std::vector<std::string> names_;  // of the buckets
  std::vector<Times> times_;
  StepHyperparams next_hyperparams_;  // of the step that computes
  StepHyperparams hyperparams_;       // of the sums under schedule
  bool armed_ = false;
  bool accumulates_ = false;
  std::size_t sent_ = 0;  // of the step that computes
  std::size_t done_ = 0;  // of the last step that was sent: what has come, and is learnt
  bool own_finite_ = true;
  bool sums_finite_ = true;
  std::atomic<TraceClock::rep> update_time_ = 0;  // within sums for the host, of all steps
  ReductionTimes costs_;
  WorkerThread worker_thread_;  // last: its work ends first
};

}  // namespace ddlrun::runtime
