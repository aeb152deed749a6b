// SPDX-License-Identifier: MIT
#include "runtime/training/trainer.hpp"

#include "runtime/core/hash.hpp"
#include "runtime/training/batch_loader.hpp"
#include "runtime/training/divergence.hpp"
#include "runtime/training/evaluation.hpp"
#include "runtime/training/finite.hpp"
#include "runtime/training/schedule_candidates.hpp"
#include "runtime/training/schedule_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ddlrun::runtime {
namespace {

using Clock = TraceClock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One rank's side of a synchronous data-parallel training. All ranks run the same states in lockstep:
//
//   run() -> run_epoch() -> run_step() ... -> end_epoch(): test, compare weights, save if due -> run_epoch()
//   ...
//
//   run_step():  load a micro-batch -> forward, backward -> accumulate   (once per micro-batch)
//                -> GradientReducer::finish(): reduce gradients and totals, update weights
//                -> take_sums(): loss, accuracy and layer state of all ranks; advance the position
//                -> pauses()? drain the reducer: the next action reads weights or calls the ranks
//                -> tune(): try the next reduce schedule, while the tuner is undecided
//
// A rank requests a stop in the totals of a step or in a test, so all ranks stop at the same position.
// Members are constructed in order: the engine writes to the reducer's vector, and its callbacks call the
// reducer.
class Trainer {
 public:
  Trainer(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
          const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
          const TrainState* start, const TrainTrace* trace)
      : plan_(filled(plan, data)),
        net_(net),
        ranks_(ranks),
        observer_(observer),
        saver_(saver),
        trace_(trace),
        rank_(static_cast<std::size_t>(ranks.rank())),
        size_(static_cast<std::size_t>(ranks.size())),
        shard_(make_shard(data, plan_.global_batch, plan_.seed, rank_, size_)),
        position_(start == nullptr ? TrainPosition{} : start->position),
        weights_(net, plan_.optimizer, ranks, shares_weights_on_host(plan_, ranks)),
        reducer_(net, ranks, weights_, plan_.optimizer, trace == nullptr ? nullptr : &trace->sums),
        engine_(make_engine(net, shard_.local_batch() / plan_.accumulate, weights_.parameters(),
                            reducer_.gradients())),
        schedules_(schedule_candidates(
            plan_, net, ranks, engine_->on_parameters_needed([this](std::size_t begin, std::size_t end) {
              if (!reducer_.wait_for(begin, end)) throw_late_sum_not_finite();
            }))),
        trials_(make_schedule_trials(schedules_)),
        evaluation_(data, shard_, *engine_, ranks, loading()),
        batch_loader_(data, shard_, {plan_.seed, plan_.schedule.total_steps, plan_.accumulate, loading()},
                      position_) {
    weights_.start(plan_.seed, start);
    if (start != nullptr)
      std::copy(start->layer_state.begin(), start->layer_state.end(), engine_->state().begin());
    if (net_.state_count > 0) ranks_.broadcast(engine_->state());
    reducer_.set_schedule(schedule());
    engine_->on_gradients_final([this](std::size_t from) { reducer_.gradients_final(from); });
    if (trace != nullptr) engine_->trace(&trace->layers);
  }

  TrainSummary run() {
    TrainSummary summary;
    summary.total_steps = plan_.schedule.total_steps;
    summary.first_step = position_.step;
    observer_.on_start(summary.total_steps, position_.step);
    while (!summary.stopped &&
           (position_.step < summary.total_steps || position_.tested_step != position_.step))
      run_epoch(summary);
    summary.weights_hash = check_weights();
    summary.last = position_.last;
    summary.steps = position_.step;
    summary.sums = size_ == 1 ? "none, one rank" : reducer_.describe();
    const auto images = static_cast<double>((position_.step - summary.first_step) * plan_.global_batch);
    summary.images_per_second = images / std::max(summary.train_seconds, 1e-9);
    return summary;
  }

 private:
  StepContext context(std::size_t step) const { return {step, plan_.schedule, clips_no_gradients(plan_)}; }
  static TrainPlan filled(TrainPlan plan, const Dataset& data) {
    plan.schedule.total_steps = total_steps(plan, data.train_images->count());
    return plan;
  }
  LoaderOptions loading() const { return {plan_.data_threads, sink()}; }
  TraceSink* sink() const { return trace_ == nullptr ? nullptr : trace_->layers.sink; }
  void record_span(TraceLane lane, std::string TrainTrace::*name, Clock::time_point begin) const {
    if (trace_ != nullptr) sink()->span(lane, trace_->*name, begin, Clock::now());
  }

  // Trains the rest of the current epoch and tests.
  void run_epoch(TrainSummary& summary) {
    double seconds = 0.0;
    const std::size_t before = position_.step;
    while (position_.step_in_epoch < shard_.steps_per_epoch() &&
           position_.step < plan_.schedule.total_steps) {
      const auto start = Clock::now();
      const StepRecord done = run_step();
      seconds += seconds_since(start);
      add_times(summary, done);
      observer_.on_step(done);
      if (position_.step == plan_.schedule.total_steps) break;  // end_epoch() saves it with its test
      summary.stopped = reducer_.total(stop_total) != 0.0;
      if (summary.stopped || saver_.due(position_, false))
        save(summary.stopped ? SaveReason::stop : SaveReason::due);
      if (summary.stopped) break;
      if (test_is_due()) test_between();
    }
    summary.train_seconds += seconds;
    if (!summary.stopped) end_epoch(summary, seconds, position_.step - before);
  }

  static void add_times(TrainSummary& summary, const StepRecord& done) {
    summary.comm_seconds += done.comm_seconds;
    summary.input_seconds += done.input_seconds;
    summary.compute_seconds += done.compute_seconds;
    summary.sum_seconds += done.sum_seconds;
  }

  void end_epoch(TrainSummary& summary, double seconds, std::size_t timed_steps) {
    const auto steps = static_cast<double>(std::max<std::size_t>(position_.step_in_epoch, 1));
    EpochRecord record{position_.epoch,
                       position_.step_in_epoch,
                       position_.loss_sum / steps,
                       position_.correct_sum / (steps * static_cast<double>(plan_.global_batch)),
                       0.0,
                       0.0,
                       seconds,
                       timed_steps};
    const TestResult result = test();
    record.test_loss = result.loss;
    record.test_accuracy = result.accuracy;
    check_weights();
    position_.last = record;
    position_.tested_step = position_.step;
    observer_.on_epoch(record);
    if (position_.step_in_epoch == shard_.steps_per_epoch()) {
      position_.epoch += 1;
      position_.step_in_epoch = 0;
      position_.loss_sum = position_.correct_sum = 0.0;
    }
    const bool end = position_.step == plan_.schedule.total_steps;
    summary.stopped = result.stop && !end;
    if (end || summary.stopped || saver_.due(position_, true))
      save(end ? SaveReason::end : summary.stopped ? SaveReason::stop : SaveReason::due);
  }

  TestResult test() {
    const auto start = Clock::now();
    const TestResult result = evaluation_.run(saver_.stop_requested());
    record_span(TraceLane::compute, &TrainTrace::test, start);
    return result;
  }

  // Tests within an epoch only; end_epoch() tests its end.
  bool test_is_due() const {
    return plan_.test_every != 0 && position_.step % plan_.test_every == 0 &&
           position_.step_in_epoch < shard_.steps_per_epoch();
  }
  // A stop requested here takes effect in the next step.
  void test_between() {
    const auto start = Clock::now();
    const TestResult result = test();
    observer_.on_test({position_.step, position_.epoch, result.loss, result.accuracy, seconds_since(start)});
  }

  void save(SaveReason reason) {
    const auto start = Clock::now();
    // The same on all ranks, because all apply the same sums.
    if (!weights_.finite()) throw_weights_not_finite(context(position_.step));
    saver_.save({position_, weights_.parameters(), weights_.optimizer_state(), engine_->state()}, reason);
    record_span(TraceLane::saving, &TrainTrace::save, start);
  }

  StepRecord run_step() {
    const auto start = Clock::now();
    const StepContext place = context(position_.step);
    const double lr = learning_rate(plan_.schedule, position_.step);
    LossSum mine;
    StepRecord record{position_.step + 1, position_.epoch, 0.0, lr};
    for (std::size_t part = 0; part < plan_.accumulate; ++part) {
      const LoadedBatch batch = batch_loader_.next();
      record.input_seconds += batch.waited_seconds;
      engine_->start_step({plan_.seed, position_.step * plan_.accumulate + part, rank_});
      const bool last = part + 1 == plan_.accumulate;
      if (last) reducer_.begin({lr, position_.step});
      const LossSum sum = engine_->train_batch(
          batch.images, batch.labels, static_cast<float>(1.0 / static_cast<double>(plan_.global_batch)));
      if (!last) reducer_.accumulate(part == 0);
      mine.loss += sum.loss;
      mine.correct += sum.correct;
    }
    record.compute_seconds = seconds_since(start) - record.input_seconds - reducer_.costs().held_seconds;
    const bool finite = reducer_.finish(totals_of(mine), engine_->state());
    if (reducer_.total(nonfinite_total) != 0.0) {
      reducer_.drain();  // throw_not_finite() calls the ranks
      throw_not_finite(ranks_, !reducer_.own_finite() || !std::isfinite(mine.loss), place);
    }
    if (!finite) throw_sum_not_finite(place);
    take_sums(record);
    const double seconds = seconds_since(start) - record.input_seconds;
    if (pauses() && !reducer_.drain()) throw_sum_not_finite(place);
    const ReductionTimes costs = reducer_.take_costs();
    record.comm_seconds = costs.exposed_seconds;
    record.sum_seconds = costs.sum_seconds;
    record.step_seconds = seconds_since(start);
    tune(seconds);
    return record;
  }

  // Whether the next action is not a step and reads weights or calls the ranks.
  bool pauses() const {
    return position_.step == plan_.schedule.total_steps ||
           position_.step_in_epoch == shard_.steps_per_epoch() || reducer_.total(stop_total) != 0.0 ||
           saver_.due(position_, false) || test_is_due() || trials_.turn_ends();
  }

  // In the forward pass of a step: the sums are of the previous step, and all ranks throw here.
  [[noreturn]] void throw_late_sum_not_finite() const { throw_sum_not_finite(context(position_.step - 1)); }

  std::array<float, total_count> totals_of(const LossSum& mine) const {
    std::array<float, total_count> totals{};
    totals[loss_total] = static_cast<float>(mine.loss);
    totals[correct_total] = static_cast<float>(mine.correct);
    totals[nonfinite_total] = std::isfinite(mine.loss) ? 0.0F : 1.0F;
    totals[stop_total] = saver_.stop_requested() ? 1.0F : 0.0F;
    return totals;
  }

  // Uses sums over all ranks, so the results are the same on all of them.
  void take_sums(StepRecord& record) {
    const std::span<float> state = engine_->state();
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = reducer_.layer_state()[i] / static_cast<float>(size_);
    record.loss = reducer_.total(loss_total) / static_cast<double>(plan_.global_batch);
    position_.step += 1;
    position_.step_in_epoch += 1;
    position_.loss_sum += record.loss;
    position_.correct_sum += reducer_.total(correct_total);
  }

  void tune(double seconds) {
    if (trials_.decided()) return;
    if (trials_.add(seconds)) {
      const std::vector<double> mine = trials_.medians();
      std::vector<float> times(mine.begin(), mine.end());
      ranks_.all_reduce_sum(times, "the times of the schedules");
      trials_.decide(std::vector<double>(times.begin(), times.end()));
    }
    if (schedule() != reducer_.schedule()) reducer_.set_schedule(schedule());
  }

  const ReduceSchedule& schedule() const { return schedules_[trials_.current()]; }

  std::uint64_t check_weights() {
    std::uint64_t hash = weights_.hash();
    if (net_.state_count > 0) hash = hash_bytes(std::as_bytes(engine_->state()), hash);
    require_equal(ranks_, fmt::format("{:016x}", hash), ErrorKind::internal,
                  fmt::format("the weights differ between ranks after step {}", position_.step),
                  "report it with the command line and the MPI version");
    return hash;
  }

  TrainPlan plan_;
  const Net& net_;
  Communicator& ranks_;
  TrainObserver& observer_;
  TrainSaver& saver_;
  const TrainTrace* trace_;
  std::size_t rank_;
  std::size_t size_;
  DataShard shard_;
  TrainPosition position_;
  Weights weights_;
  GradientReducer reducer_;
  std::unique_ptr<Engine> engine_;
  std::vector<ReduceSchedule> schedules_;
  ddl::Trials trials_;
  Evaluation evaluation_;
  BatchLoader batch_loader_;
};

}  // namespace

TrainTrace make_train_trace(TraceSink& sink, const Net& net) {
  TrainTrace trace;
  trace.layers = make_layer_trace(sink, net);
  trace.sums.sink = &sink;
  for (std::size_t i = 0; i < net.layers.size() + 2; ++i)
    trace.sums.buckets.push_back(fmt::format("bucket {}", i));
  return trace;
}

TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer) {
  TrainSaver none;
  return train(plan, net, data, ranks, make_engine, observer, none, nullptr);
}

TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                   const TrainState* start, const TrainTrace* trace) {
  return Trainer(plan, net, data, ranks, make_engine, observer, saver, start, trace).run();
}

}  // namespace ddlrun::runtime
