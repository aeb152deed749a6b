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

// The totals of a step ride behind the gradients, so that one reduction carries both.
enum Tail : std::size_t { loss_at, correct_at, bad_at, tail_size };

bool all_finite(std::span<const float> values) {
  // Integer work on the exponents, because it vectorises where isfinite() does not.
  constexpr std::uint32_t exponent = 0x7f800000U;
  std::uint32_t bad = 0;
  for (const float value : values)
    bad |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent ? 1U : 0U;
  return bad == 0;
}

class Trainer {
 public:
  Trainer(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
          const EngineFactory& make_engine, TrainObserver& observer)
      : plan_(plan),
        net_(net),
        data_(data),
        ranks_(ranks),
        observer_(observer),
        rank_(static_cast<std::size_t>(ranks.rank())),
        size_(static_cast<std::size_t>(ranks.size())),
        local_(local_batch(plan.global_batch, size_, data.train.count())),
        parameters_(initial_parameters(net, plan.seed)),
        velocity_(net.parameter_count, 0.0F),
        local_sums_(net.parameter_count + tail_size, 0.0F),
        sums_(local_sums_.size(), 0.0F) {
    plan_.schedule.total_steps = total_steps(plan, data.train.count());
    engine_ = make_engine(net_, local_, parameters_, std::span(local_sums_).first(net_.parameter_count));
    images_.resize(std::max(local_, engine_->evaluation_batch()) * net_.input.count());
    labels_.resize(std::max(local_, engine_->evaluation_batch()));
  }

  TrainSummary run() {
    ranks_.broadcast(parameters_);
    const std::size_t total = plan_.schedule.total_steps;
    observer_.on_start(total);
    TrainSummary summary;
    summary.total_steps = total;
    for (std::size_t epoch = 1; step_ < total; ++epoch) {
      summary.last = run_epoch(epoch, summary);
      summary.weights_hash = check_weights();
      observer_.on_epoch(summary.last);
    }
    summary.steps = step_;
    const auto images = static_cast<double>(step_ * plan_.global_batch);
    summary.images_per_second = images / std::max(summary.train_seconds, 1e-9);
    return summary;
  }

 private:
  EpochRecord run_epoch(std::size_t epoch, TrainSummary& summary) {
    const auto start = Clock::now();
    const auto order = epoch_permutation(data_.train.count(), plan_.seed, epoch - 1);
    const std::size_t steps = std::min(steps_per_epoch(data_.train.count(), plan_.global_batch),
                                       plan_.schedule.total_steps - step_);
    EpochRecord record{epoch, steps, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < steps; ++i) {
      const StepRecord done = run_step(epoch, step_slice(order, i, plan_.global_batch, rank_, size_));
      record.train_loss += done.loss / static_cast<double>(steps);
      record.train_accuracy += tail(correct_at) / static_cast<double>(steps * plan_.global_batch);
      summary.comm_seconds += done.comm_seconds;
      observer_.on_step(done);
    }
    record.train_seconds = seconds_since(start);
    summary.train_seconds += record.train_seconds;
    evaluate(record);
    return record;
  }

  StepRecord run_step(std::size_t epoch, std::span<const std::uint32_t> images) {
    const auto start = Clock::now();
    load(data_.train, images);
    const double lr = learning_rate(plan_.schedule, step_);
    const auto scale = static_cast<float>(1.0 / static_cast<double>(plan_.global_batch));
    const LossSum mine = engine_->train_batch(std::span(images_).first(local_ * net_.input.count()),
                                              std::span(labels_).first(local_), scale);
    const bool finite =
        std::isfinite(mine.loss) && all_finite(std::span(local_sums_).first(net_.parameter_count));
    std::span<float> totals = std::span(local_sums_).subspan(net_.parameter_count);
    totals[loss_at] = static_cast<float>(mine.loss);
    totals[correct_at] = static_cast<float>(mine.correct);
    totals[bad_at] = finite ? 0.0F : 1.0F;
    const auto before = Clock::now();
    ranks_.all_reduce_sum(local_sums_, sums_);
    const double comm = seconds_since(before);
    ++step_;
    if (tail(bad_at) != 0.0) refuse_not_finite(finite, lr);
    sgd_step(plan_.rule, static_cast<float>(lr), parameters_,
             std::span<const float>(sums_).first(net_.parameter_count), velocity_);
    return {step_, epoch, tail(loss_at) / static_cast<double>(plan_.global_batch), lr, seconds_since(start),
            comm};
  }

  double tail(Tail which) const { return static_cast<double>(sums_[net_.parameter_count + which]); }

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
                                   step_, plan_.schedule.total_steps),
                       bad, fmt::format("--lr {:.3g} --warmup-steps 100", lr / 10.0)});
  }

  void evaluate(EpochRecord& record) {
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
    const float local[3] = {static_cast<float>(mine.loss), static_cast<float>(mine.correct >> 12U),
                            static_cast<float>(mine.correct & 0xfffU)};
    float sum[3] = {};
    ranks_.all_reduce_sum(local, sum);
    const auto count = static_cast<double>(data_.test.count());
    record.test_loss = static_cast<double>(sum[0]) / count;
    record.test_accuracy = (4096.0 * static_cast<double>(sum[1]) + static_cast<double>(sum[2])) / count;
  }

  std::uint64_t check_weights() {
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(parameters_)));
    require_equal(ranks_, fmt::format("{:016x}", hash), ErrorKind::internal,
                  fmt::format("the weights differ between ranks after step {}", step_),
                  "report it with the command line and the MPI version");
    return hash;
  }

  TrainPlan plan_;
  const Net& net_;
  const Dataset& data_;
  Communicator& ranks_;
  TrainObserver& observer_;
  std::size_t rank_;
  std::size_t size_;
  std::size_t local_;
  std::size_t step_ = 0;
  std::vector<float> parameters_;
  std::vector<float> velocity_;
  std::vector<float> local_sums_;
  std::vector<float> sums_;
  std::vector<float> images_;
  std::vector<std::uint8_t> labels_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace

std::size_t total_steps(const TrainPlan& plan, std::size_t images) {
  const std::size_t steps = plan.epochs * steps_per_epoch(images, plan.global_batch);
  return plan.max_steps == 0 ? steps : std::min(steps, plan.max_steps);
}

TrainSummary train(const TrainPlan& plan, const Net& net, const Dataset& data, Communicator& ranks,
                   const EngineFactory& make_engine, TrainObserver& observer) {
  return Trainer(plan, net, data, ranks, make_engine, observer).run();
}

}  // namespace ddlrun::runtime
