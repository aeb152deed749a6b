// SPDX-License-Identifier: MIT
#include "runtime/trainer.hpp"

#include "runtime/hash.hpp"
#include "runtime/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <vector>

namespace ddlrun::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The layers' state and the totals of a step ride behind the gradients, so that one reduction carries all.
enum Tail : std::size_t { loss_at, correct_at, bad_at, stop_at, tail_size };

bool all_finite(std::span<const float> values) {
  // Integer work on the exponents, because it vectorises where isfinite() does not.
  constexpr std::uint32_t exponent = 0x7f800000U;
  std::uint32_t bad = 0;
  for (const float value : values)
    bad |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent ? 1U : 0U;
  return bad == 0;
}

// Neighbouring tensors that learn at the same rate.
struct RateRun {
  Range range;
  double lr_factor;
  double decay_factor;
};

std::vector<RateRun> plan_rates(const Net& net) {
  std::vector<RateRun> runs;
  for (const NamedTensor& tensor : net.parameters) {
    if (runs.empty() || runs.back().lr_factor != tensor.lr_factor ||
        runs.back().decay_factor != tensor.decay_factor) {
      runs.push_back({{tensor.offset, tensor.offset}, tensor.lr_factor, tensor.decay_factor});
    }
    runs.back().range.end = tensor.offset + tensor.count;
  }
  return runs;
}

class Trainer {
 public:
  Trainer(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
          const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
          const TrainState* start)
      : plan_(plan),
        net_(net),
        data_(data),
        ranks_(ranks),
        observer_(observer),
        saver_(saver),
        rank_(static_cast<std::size_t>(ranks.rank())),
        size_(static_cast<std::size_t>(ranks.size())),
        local_(local_batch(plan.global_batch, size_, data.train.count())),
        parameters_(initial_parameters(net, plan.seed)),
        velocity_(net.parameter_count, 0.0F),
        sums_(ranks.allocate(net.parameter_count + net.state_count + tail_size)),
        rates_(plan_rates(net)),
        steps_per_epoch_(steps_per_epoch(data.train.count(), plan.global_batch)) {
    plan_.schedule.total_steps = total_steps(plan, data.train.count());
    engine_ = make_engine(net_, local_, parameters_, sums_.first(net_.parameter_count));
    images_.resize(std::max(local_, engine_->evaluation_batch()) * net_.input.count());
    labels_.resize(std::max(local_, engine_->evaluation_batch()));
    share_start(start);
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
    const auto images = static_cast<double>((position_.step - summary.first_step) * plan_.global_batch);
    summary.images_per_second = images / std::max(summary.train_seconds, 1e-9);
    return summary;
  }

 private:
  // Rank 0's start on all ranks. The engine looks at these vectors, so they stay where they are.
  void share_start(const TrainState* start) {
    if (start != nullptr) {
      position_ = start->position;
      std::copy(start->parameters.begin(), start->parameters.end(), parameters_.begin());
      std::copy(start->velocity.begin(), start->velocity.end(), velocity_.begin());
      std::copy(start->layer_state.begin(), start->layer_state.end(), engine_->state().begin());
    }
    ranks_.broadcast(parameters_);
    if (start != nullptr) ranks_.broadcast(velocity_);
    if (net_.state_count > 0) ranks_.broadcast(engine_->state());
  }

  // What is left of the epoch that the run is in, and its test.
  void run_epoch(TrainSummary& summary) {
    const auto start = Clock::now();
    const auto order = epoch_permutation(data_.train.count(), plan_.seed, position_.epoch - 1);
    while (position_.step_in_epoch < steps_per_epoch_ && position_.step < plan_.schedule.total_steps) {
      const StepRecord done =
          run_step(step_slice(order, position_.step_in_epoch, plan_.global_batch, rank_, size_));
      summary.comm_seconds += done.comm_seconds;
      observer_.on_step(done);
      if (position_.step == plan_.schedule.total_steps) break;  // to be saved with its test
      summary.stopped = tail(stop_at) != 0.0;
      if (summary.stopped || saver_.due(position_, false))
        save(summary.stopped ? SaveReason::stop : SaveReason::due);
      if (summary.stopped) break;
    }
    const double seconds = seconds_since(start);
    summary.train_seconds += seconds;
    if (!summary.stopped) end_epoch(summary, seconds);
  }

  void end_epoch(TrainSummary& summary, double seconds) {
    const auto steps = static_cast<double>(std::max<std::size_t>(position_.step_in_epoch, 1));
    EpochRecord record{position_.epoch,
                       position_.step_in_epoch,
                       position_.loss_sum / steps,
                       position_.correct_sum / (steps * static_cast<double>(plan_.global_batch)),
                       0.0,
                       0.0,
                       seconds};
    const bool stop = evaluate(record);
    check_weights();
    position_.last = record;
    position_.tested_step = position_.step;
    observer_.on_epoch(record);
    if (position_.step_in_epoch == steps_per_epoch_) {
      position_.epoch += 1;
      position_.step_in_epoch = 0;
      position_.loss_sum = position_.correct_sum = 0.0;
    }
    const bool end = position_.step == plan_.schedule.total_steps;
    summary.stopped = stop && !end;
    if (end || summary.stopped || saver_.due(position_, true))
      save(end ? SaveReason::end : summary.stopped ? SaveReason::stop : SaveReason::due);
  }

  void save(SaveReason reason) {
    if (!all_finite(parameters_) ||
        !all_finite(velocity_)) {  // alike on all ranks, for all learn from the same sums
      throw AgreedError(
          ErrorKind::request,
          {fmt::format("a weight is not finite (NaN or infinite) after step {}", position_.step),
           "nothing is saved; the checkpoint before is the last",
           fmt::format("--lr {:.3g} --warmup-steps 100", plan_.schedule.peak / 10.0)});
    }
    saver_.save({position_, parameters_, velocity_, engine_->state()}, reason);
  }

  StepRecord run_step(std::span<const std::uint32_t> images) {
    const auto start = Clock::now();
    load(data_.train, images);
    const double lr = learning_rate(plan_.schedule, position_.step);
    const auto scale = static_cast<float>(1.0 / static_cast<double>(plan_.global_batch));
    engine_->start_step({plan_.seed, position_.step, rank_});
    const LossSum mine = engine_->train_batch(std::span(images_).first(local_ * net_.input.count()),
                                              std::span(labels_).first(local_), scale);
    const bool finite = std::isfinite(mine.loss) && all_finite(gradients(sums_));
    const std::span<const float> state = engine_->state();
    std::copy(state.begin(), state.end(), sums_.subspan(net_.parameter_count).begin());
    const std::span<float> totals = sums_.last(tail_size);
    totals[loss_at] = static_cast<float>(mine.loss);
    totals[correct_at] = static_cast<float>(mine.correct);
    totals[bad_at] = finite ? 0.0F : 1.0F;
    totals[stop_at] = saver_.stop_wanted() ? 1.0F : 0.0F;
    const auto before = Clock::now();
    ranks_.all_reduce_sum(sums_);
    const double comm = seconds_since(before);
    if (tail(bad_at) != 0.0) refuse_not_finite(finite, lr);
    learn(lr);
    const double loss = tail(loss_at) / static_cast<double>(plan_.global_batch);
    position_.step += 1;
    position_.step_in_epoch += 1;
    position_.loss_sum += loss;
    position_.correct_sum += tail(correct_at);
    return {position_.step, position_.epoch, loss, lr, seconds_since(start), comm};
  }

  // From the sums of all ranks: the same on all of them.
  void learn(double lr) {
    for (const RateRun& run : rates_) {
      const std::size_t count = run.range.end - run.range.begin;
      const SgdRule rule{plan_.rule.momentum,
                         static_cast<float>(static_cast<double>(plan_.rule.weight_decay) * run.decay_factor)};
      sgd_step(rule, static_cast<float>(lr * run.lr_factor),
               std::span(parameters_).subspan(run.range.begin, count), sums_.subspan(run.range.begin, count),
               std::span(velocity_).subspan(run.range.begin, count));
    }
    const std::span<float> state = engine_->state();
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] = sums_[net_.parameter_count + i] / static_cast<float>(size_);
  }

  std::span<const float> gradients(std::span<const float> sums) const {
    return sums.first(net_.parameter_count);
  }
  double tail(Tail which) const { return static_cast<double>(sums_[sums_.size() - tail_size + which]); }

  void load(const ImageSet& set, std::span<const std::uint32_t> indices) {
    const std::size_t size = net_.input.count();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      normalise(data_, set, indices[i], std::span(images_).subspan(i * size, size));
      labels_[i] = set.labels[indices[i]];
    }
  }

  // All ranks know from the sum that some rank failed; now they ask which.
  void refuse_not_finite(bool finite, double lr) {
    std::string bad;
    for (const std::string& name : ranks_.gather_all(finite ? "" : rank_name(ranks_))) {
      if (!name.empty()) bad += (bad.empty() ? "" : ", ") + name;
    }
    throw AgreedError(ErrorKind::request,
                      {fmt::format("the loss or a gradient is not finite (NaN or infinite) in step {} of {}",
                                   position_.step + 1, plan_.schedule.total_steps),
                       bad, fmt::format("--lr {:.3g} --warmup-steps 100", lr / 10.0)});
  }

  // Whether some rank wants to stop.
  bool evaluate(EpochRecord& record) {
    const Range range = even_share(data_.test.count(), rank_, size_);
    LossSum mine;
    std::vector<std::uint32_t> indices;
    for (std::size_t i = range.begin; i < range.end; i += indices.size()) {
      indices.clear();
      const std::size_t end = std::min(range.end, i + engine_->evaluation_batch());
      for (std::size_t k = i; k < end; ++k) indices.push_back(static_cast<std::uint32_t>(k));
      load(data_.test, indices);
      const LossSum part = engine_->evaluate(std::span(images_).first(indices.size() * net_.input.count()),
                                             std::span(labels_).first(indices.size()));
      mine.loss += part.loss;
      mine.correct += part.correct;
    }
    // Counts above 2^24 would lose units as one float, so they travel as two.
    const float local[4] = {static_cast<float>(mine.loss), static_cast<float>(mine.correct >> 12U),
                            static_cast<float>(mine.correct & 0xfffU), saver_.stop_wanted() ? 1.0F : 0.0F};
    float sum[4] = {};
    ranks_.all_reduce_sum(local, sum);
    const auto count = static_cast<double>(data_.test.count());
    record.test_loss = static_cast<double>(sum[0]) / count;
    record.test_accuracy = (4096.0 * static_cast<double>(sum[1]) + static_cast<double>(sum[2])) / count;
    return sum[3] != 0.0F;
  }

  std::uint64_t check_weights() {
    std::uint64_t hash = hash_bytes(std::as_bytes(std::span(parameters_)));
    if (net_.state_count > 0) hash = hash_bytes(std::as_bytes(engine_->state()), hash);
    require_equal(ranks_, fmt::format("{:016x}", hash), ErrorKind::internal,
                  fmt::format("the weights differ between ranks after step {}", position_.step),
                  "report it with the command line and the MPI version");
    return hash;
  }

  TrainPlan plan_;
  const Net& net_;
  const Dataset& data_;
  Communicator& ranks_;
  TrainObserver& observer_;
  TrainSaver& saver_;
  std::size_t rank_;
  std::size_t size_;
  std::size_t local_;
  TrainPosition position_;
  std::vector<float> parameters_;
  std::vector<float> velocity_;
  std::span<float> sums_;  // of this rank, then of all
  std::vector<RateRun> rates_;
  std::size_t steps_per_epoch_;
  std::vector<float> images_;
  std::vector<Label> labels_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::size_t total_steps(const TrainPlan& plan, std::size_t images) {
  const std::size_t steps = plan.epochs * steps_per_epoch(images, plan.global_batch);
  return plan.max_steps == 0 ? steps : std::min(steps, plan.max_steps);
}

TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer) {
  TrainSaver none;
  return train(plan, net, data, ranks, make_engine, observer, none, nullptr);
}

TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                   const TrainState* start) {
  return Trainer(plan, net, data, ranks, make_engine, observer, saver, start).run();
}

}  // namespace ddlrun::runtime
