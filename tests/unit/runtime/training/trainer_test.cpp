// SPDX-License-Identifier: MIT
// The whole loop with the real engine, ranks as threads; and with an engine that fails on purpose.
#include "runtime/training/trainer.hpp"

#include "runtime/comm/thread_communicator.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace ddlrun::runtime {
namespace {

const Dataset& subset() {
  static const Dataset data = load_dataset(DDLRUN_TEST_DATA "/fashion-mnist-subset");
  return data;
}

class Recorder : public TrainObserver {
 public:
  void on_step(const StepRecord& record) override { losses.push_back(record.loss); }
  void on_epoch(const EpochRecord& record) override { epochs.push_back(record); }
  void on_test(const TestRecord& record) override { tests.push_back(record); }
  std::vector<double> losses;
  std::vector<EpochRecord> epochs;
  std::vector<TestRecord> tests;
};

TrainPlan make_plan(std::size_t epochs, std::size_t steps) {
  TrainPlan plan;
  plan.epochs = epochs;
  plan.max_steps = steps;
  plan.global_batch = 40;
  plan.schedule.peak = 0.005;
  return plan;
}

struct Run {
  Recorder recorder;
  TrainSummary summary;
};

Run run_on(int ranks, const TrainPlan& plan, const char* net_name) {
  Run run;
  const Net net = build_net(net_name, subset().input(), subset().classes);
  run_ranks_as_threads(ranks, [&](Communicator& group) {
    set_cpu_threads(1);
    TrainObserver silent;
    TrainObserver& observer = group.rank() == 0 ? run.recorder : silent;
    const TrainSummary summary = train(plan, net, subset(), group, make_cpu_engine, observer);
    if (group.rank() == 0) run.summary = summary;
  });
  return run;
}

// Gradients of zero, and on one rank something worse.
class FaultyEngine : public Engine {
 public:
  FaultyEngine(std::span<float> gradients, bool bad_loss, bool bad_gradient)
      : gradients_(gradients), bad_loss_(bad_loss), bad_gradient_(bad_gradient) {}
  LossSum train_batch(std::span<const float>, std::span<const Label>, float) override {
    if (bad_gradient_) gradients_[1] = std::numeric_limits<float>::infinity();
    return {bad_loss_ ? std::nan("") : 1.0, 0};
  }
  LossSum evaluate(std::span<const float>, std::span<const Label>) override { return {}; }
  std::size_t evaluation_batch() const override { return 100; }

 private:
  std::span<float> gradients_;
  bool bad_loss_;
  bool bad_gradient_;
};

// Leaves the gradients as they are; when it ends, its weights must be numbers.
class WatchedEngine : public Engine {
 public:
  explicit WatchedEngine(std::span<float> parameters) : parameters_(parameters) {}
  ~WatchedEngine() override {
    for (const float weight : parameters_) {
      if (!std::isfinite(weight)) std::abort();
    }
  }
  void on_gradients_final(GradientsFinal tell) override { tell_ = std::move(tell); }
  LossSum train_batch(std::span<const float>, std::span<const Label>, float) override {
    tell_(0);
    return {1.0, 0};
  }
  LossSum evaluate(std::span<const float>, std::span<const Label>) override { return {}; }
  std::size_t evaluation_batch() const override { return 100; }

 private:
  std::span<float> parameters_;
  GradientsFinal tell_;
};

}  // namespace
TEST_SUITE_BEGIN("runtime/training/trainer");

// namespace

TEST_CASE("trainer: 1, 2 and 4 ranks with the same global batch have the same losses") {
  for (const char* net : {"lenet5", "mlp"}) {
    const Run one = run_on(1, make_plan(10, 50), net);
    CHECK(one.recorder.losses.size() == 50);
    for (const int ranks : {2, 4}) {
      const Run more = run_on(ranks, make_plan(10, 50), net);
      REQUIRE(more.recorder.losses.size() == 50);
      for (std::size_t i = 0; i < 50; ++i) {
        CHECK(more.recorder.losses[i] == doctest::Approx(one.recorder.losses[i]).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("trainer: it learns, and the same seed gives the same bits") {
  TrainPlan plan = make_plan(6, 0);
  plan.schedule.peak = 0.02;
  const Run run = run_on(2, plan, "lenet5");
  CHECK(run.recorder.losses.front() == doctest::Approx(std::log(10.0)).epsilon(0.1));
  CHECK(run.summary.last.test_accuracy > 0.6);  // chance is 0.1
  CHECK(run.summary.steps == 6 * 25);
  CHECK(run.recorder.epochs.size() == 6);
  CHECK(run_on(2, plan, "lenet5").summary.weights_hash == run.summary.weights_hash);
  plan.seed = 2;
  CHECK(run_on(2, plan, "lenet5").summary.weights_hash != run.summary.weights_hash);
}

TEST_CASE("trainer: a value that is not finite names its rank") {
  const Net net = build_net("mlp", subset().input(), subset().classes);
  for (const bool in_loss : {true, false}) {
    const Message message =
        expect_error(ErrorKind::request, "not finite (NaN or infinite) in step 1 of 25", [&] {
          run_ranks_as_threads(4, [&](Communicator& group) {
            const bool bad = group.rank() == 2;
            TrainObserver silent;
            train(
                make_plan(1, 0), net, subset(), group,
                [&](const Net&, std::size_t, std::span<float>,
                    std::span<float> gradients) -> std::unique_ptr<Engine> {
                  return std::make_unique<FaultyEngine>(gradients, bad && in_loss, bad && !in_loss);
                },
                silent);
          });
        });
    CHECK(message.where.starts_with("rank 2 "));
    CHECK(message.where.find("rank 1") == std::string::npos);
  }
}

TEST_CASE("trainer: the reduce schedule and the place of the update do not change a bit") {
  TrainPlan plan = make_plan(10, 30);
  plan.overlap = Overlap::off;
  plan.placement = OptimizerPlacement::rank;
  for (const int ranks : {2, 3}) {
    plan.global_batch = ranks == 3 ? 42 : 40;
    const std::uint64_t hash = run_on(ranks, plan, "lenet5").summary.weights_hash;
    for (const OptimizerPlacement place : {OptimizerPlacement::rank, OptimizerPlacement::host}) {
      for (const std::size_t bytes : {0U, 1U, 20000U, 10000000U}) {
        CAPTURE(bytes);
        TrainPlan other = plan;
        other.placement = place;
        other.overlap = bytes == 0 ? Overlap::off : Overlap::on;
        other.bucket_bytes = bytes;
        const Run run = run_on(ranks, other, "lenet5");
        CHECK(run.summary.weights_hash == hash);
        const char* sums = bytes == 0       ? "after each step"
                           : bytes == 1     ? "5 buckets"
                           : bytes == 20000 ? "3 buckets"
                                            : "1 bucket,";
        CHECK_MESSAGE(run.summary.sums.starts_with(sums), run.summary.sums);
      }
    }
    TrainPlan tried = plan;  // other sizes in the first steps, then one
    tried.overlap = Overlap::automatic;
    tried.placement = OptimizerPlacement::automatic;
    CHECK(run_on(ranks, tried, "lenet5").summary.weights_hash == hash);
  }
}

TEST_CASE("trainer: every rule learns the same on 1 and 2 ranks, and on shared weights") {
  struct Row {
    OptimizerKind kind;
    double lr;
    double clip;
  };
  const Row rows[] = {{OptimizerKind::nesterov, 0.005, 0.0}, {OptimizerKind::adam, 0.001, 0.0},
                      {OptimizerKind::lars, 1.0, 0.0},       {OptimizerKind::adagrad, 0.005, 0.0},
                      {OptimizerKind::rmsprop, 0.0005, 0.0}, {OptimizerKind::adadelta, 1.0, 0.0},
                      {OptimizerKind::sgd, 0.02, 0.5}};
  for (const Row& row : rows) {
    CAPTURE(name_of(row.kind));
    TrainPlan plan = make_plan(10, 25);
    plan.schedule.peak = row.lr;
    plan.optimizer.kind = row.kind;
    plan.optimizer.clip = row.clip;
    plan.optimizer.epsilon = 1e-6;
    const Run one = run_on(1, plan, "lenet5");
    const Run two = run_on(2, plan, "lenet5");
    REQUIRE(two.recorder.losses.size() == 25);
    // AdaDelta divides by means that begin near 0: it enlarges rounding, by how much depends on the processor.
    const double tolerance = row.kind == OptimizerKind::adadelta ? 1e-2 : 2e-3;
    for (std::size_t i = 0; i < 25; ++i)
      CHECK(two.recorder.losses[i] == doctest::Approx(one.recorder.losses[i]).epsilon(tolerance));
    CHECK(one.recorder.losses.back() < one.recorder.losses.front());
    plan.overlap = Overlap::on;
    plan.bucket_bytes = 20000;
    CHECK(run_on(2, plan, "lenet5").summary.weights_hash == two.summary.weights_hash);
  }
}

TEST_CASE("trainer: micro-batches add up to the same step as one batch") {
  for (const char* net : {"lenet5", "mlp"}) {
    const Run whole = run_on(1, make_plan(10, 30), net);
    for (const std::size_t parts : {2U, 5U}) {
      for (const int ranks : {1, 2}) {
        TrainPlan plan = make_plan(10, 30);
        plan.accumulate = parts;
        plan.overlap = ranks == 1 ? Overlap::off : Overlap::on;
        plan.bucket_bytes = 20000;
        const Run run = run_on(ranks, plan, net);
        REQUIRE(run.recorder.losses.size() == 30);
        for (std::size_t i = 0; i < 30; ++i)
          CHECK(run.recorder.losses[i] == doctest::Approx(whole.recorder.losses[i]).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("trainer: micro-batches of unequal size are refused with a batch that fits") {
  TrainPlan plan;
  plan.global_batch = 40;
  plan.accumulate = 3;
  const Message message = expect_error(
      ErrorKind::usage, "20 images per rank and step cannot be divided by --gradient-accumulation 3",
      [&] { check_accumulation(plan, 2); });
  CHECK(message.hint == "--global-batch 36");
  plan.accumulate = 5;
  check_accumulation(plan, 2);
}

TEST_CASE("trainer: tests between epochs, and steps beyond the epochs") {
  TrainPlan plan = make_plan(1, 0);
  plan.steps_per_epoch = 25;  // 1,000 images
  set_total_steps(plan, 60);
  CHECK(plan.epochs == 3);
  CHECK(total_steps(plan, 1000) == 60);
  plan.test_every = 10;
  const Run run = run_on(2, plan, "mlp");
  std::vector<std::size_t> tests;
  for (const TestRecord& test : run.recorder.tests) tests.push_back(test.step);
  CHECK(tests == std::vector<std::size_t>{10, 20, 30, 40});  // 25, 50 and 60 have tests of their own
  CHECK(run.recorder.epochs.size() == 3);
  CHECK(run.recorder.epochs.back().steps == 10);
  CHECK(run.recorder.tests.back().test_accuracy > 0.5);  // chance is 0.1
  CHECK(run.recorder.tests.back().test_loss < run.recorder.tests.front().test_loss);
  // Looking does not change what is learnt.
  TrainPlan unseen = plan;
  unseen.test_every = 0;
  CHECK(run_on(2, unseen, "mlp").summary.weights_hash == run.summary.weights_hash);
}

TEST_CASE(
    "trainer: a gradient that is not finite names its rank and changes no weight, however sums are made") {
  const Net net = build_net("mlp", subset().input(), subset().classes);
  for (const OptimizerPlacement place : {OptimizerPlacement::rank, OptimizerPlacement::host}) {
    for (const Overlap overlap : {Overlap::off, Overlap::on}) {
      for (const bool in_sum : {false, true}) {
        const Message message = expect_error(
            ErrorKind::request,
            in_sum ? "overflows float32 in step 1 of 25" : "not finite (NaN or infinite) in step 1", [&] {
              run_ranks_as_threads(4, [&](Communicator& group) {
                TrainPlan plan = make_plan(1, 0);
                plan.placement = place;
                plan.overlap = overlap;
                plan.bucket_bytes = 1;
                TrainObserver silent;
                train(
                    plan, net, subset(), group,
                    [&](const Net&, std::size_t, std::span<float> parameters,
                        std::span<float> gradients) -> std::unique_ptr<Engine> {
                      for (float& gradient : gradients) gradient = 0.125F;
                      if (in_sum) gradients.back() = 3e38F;
                      if (!in_sum && group.rank() == 3) gradients.back() = std::nanf("");
                      return std::make_unique<WatchedEngine>(parameters);
                    },
                    silent);
              });
            });
        CHECK(message.where.starts_with(in_sum ? "the gradients of each rank" : "rank 3 "));
      }
    }
  }
}

TEST_CASE("trainer: times add up") {
  class Times : public TrainObserver {
   public:
    void on_step(const StepRecord& record) override { steps.push_back(record); }
    std::vector<StepRecord> steps;
  };
  const Net net = build_net("lenet5", subset().input(), subset().classes);
  for (const Overlap overlap : {Overlap::off, Overlap::on}) {
    Times times;
    run_ranks_as_threads(2, [&](Communicator& group) {
      set_cpu_threads(1);
      TrainPlan plan = make_plan(1, 20);
      plan.overlap = overlap;
      TrainObserver silent;
      train(plan, net, subset(), group, make_cpu_engine, group.rank() == 0 ? times : silent);
    });
    for (const StepRecord& step : times.steps) {
      CHECK(step.compute_seconds > 0.0);
      CHECK(step.sum_seconds > 0.0);
      CHECK(step.input_seconds + step.compute_seconds + step.comm_seconds <= step.step_seconds);
    }
  }
}

TEST_CASE("trainer: a batch that the ranks cannot share is refused") {
  expect_error(ErrorKind::usage, "40 cannot be divided by 3 ranks; the nearest that can: 39 or 42",
               [] { run_on(3, make_plan(1, 1), "mlp"); });
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
