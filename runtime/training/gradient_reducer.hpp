// SPDX-License-Identifier: MIT
// Reduces the gradients of a step over all ranks, bucket by bucket, and applies them to the weights.
//
//                begin()             gradients_final()...         finish()
//   [idle] ---------------> [computing] ---------> [sending] ---------------------> [idle]
//     ^                                                            |
//     |  drain(), or wait_for() of the last bucket                 v  schedule across steps
//     +------------------------------------------------- [in flight]
//
// Without overlap all buckets are reduced in finish(). With overlap the communication thread reduces each
// bucket as soon as its gradients are final. Across steps, finish() waits only for the buckets up to the
// metadata; the rest stays in flight: until drain() weights must not be read and ranks not be called, except
// that the next forward pass may run if it calls wait_for() before it reads a layer's parameters. That also
// protects the gradients: a layer writes its gradients only after its forward pass, when its last sum has
// been applied.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/core/trace.hpp"
#include "runtime/training/buckets.hpp"
#include "runtime/training/weights.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::runtime {

// Names for the spans of reductions and updates. They must outlive the trace sink.
struct ReductionTrace {
  TraceSink* sink = nullptr;
  std::string update = "update";
  std::string check_finite = "check gradients";
  std::string wait = "wait for sums";
  std::vector<std::string> buckets;  // two more than layers at least
};

// The totals of a step, in the metadata at the front of the flat vector.
enum Total : std::size_t { loss_total, correct_total, nonfinite_total, stop_total, total_count };

struct ReductionTimes {
  double exposed_seconds = 0.0;  // exposed wait for sums
  double sum_seconds = 0.0;      // all sums from start to end
  double held_seconds = 0.0;     // waits and updates together
};

class GradientReducer {
 public:
  // Collective. All references must outlive it; `trace` may be null.
  GradientReducer(const Net& net, Communicator& ranks, Weights& weights, const Optimizer& optimizer,
                  const ReductionTrace* trace);
  // Waits for the sum at hand; those that have not begun are skipped.
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // Only between steps, with nothing in flight.
  void set_schedule(const ReduceSchedule& schedule);
  const ReduceSchedule& schedule() const { return schedule_; }
  std::string describe() const { return render_reduce_schedule(schedule_, buckets_); }

  // [net.parameter_count]: the backward pass writes its gradients here.
  std::span<float> gradients() const { return flat_.subspan(metadata_); }
  // Adds the gradients of a micro-batch to those of the step; `first`: of its first micro-batch. Not for the
  // last one, whose gradients finish() adds.
  void accumulate(bool first);

  // Starts a step: from now on final gradients may be sent.
  void begin(const StepHyperparams& hyperparams);
  void gradients_final(std::size_t from);
  // Sends the remaining buckets and the metadata, waits for them and applies them. False: a sum was not
  // finite and its weights are unchanged. That result is the same on all ranks and returned by the call of
  // finish(), wait_for() or drain() that waited for the last bucket.
  bool finish(std::span<const float> totals, std::span<const float> layer_state);
  // Waits until parameters [begin, end) are updated; called before a forward pass reads them.
  bool wait_for(std::size_t begin, std::size_t end);
  // Waits for everything in flight.
  bool drain();

  // Totals over all ranks, after finish().
  double total(Total which) const { return static_cast<double>(flat_[which]); }
  std::span<const float> layer_state() const { return flat_.subspan(total_count, net_.state_count); }
  // Whether the gradients of this rank were finite.
  bool own_finite() const { return own_finite_; }
  // Times since the last take_costs().
  const ReductionTimes& costs() const { return costs_; }
  ReductionTimes take_costs() { return std::exchange(costs_, {}); }

 private:
  struct Times {
    ddl::Handle work;  // the sum, on the communication thread
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
  bool in_flight() const { return done_ < buckets_.size(); }
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
  bool needs_norms_;  // the optimizer needs all sums at once
  std::size_t metadata_;
  std::span<float> flat_;           // metadata and gradients of this rank, then the sums
  std::span<float> host_metadata_;  // shared by the host: reduced metadata, then an error flag per local rank
  std::vector<float> accumulated_;  // of earlier micro-batches
  std::vector<float> metadata_sums_;  // full-precision sums of the metadata, if gradients have less
  ReduceSchedule schedule_;
  std::vector<Range> buckets_;  // in sending order
  std::size_t metadata_bucket_ = 0;
  std::vector<std::string> names_;  // of the buckets
  std::vector<Times> times_;
  StepHyperparams next_hyperparams_;  // of the step in computation
  StepHyperparams hyperparams_;       // of the sums in flight
  bool armed_ = false;
  bool accumulates_ = false;
  std::size_t sent_ = 0;  // buckets of the step in computation
  std::size_t done_ = 0;  // buckets of the last sent step that are reduced and applied
  bool own_finite_ = true;
  bool sums_finite_ = true;
  std::atomic<bool> leaving_ = false;
  std::exception_ptr failure_;  // of a sum: later ones fail with it. Of the communication thread
  std::atomic<TraceClock::rep> update_time_ = 0;  // in all_reduce_update(), all steps
  ReductionTimes costs_;
};

}  // namespace ddlrun::runtime
