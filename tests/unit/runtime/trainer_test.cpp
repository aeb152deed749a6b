// SPDX-License-Identifier: MIT
// The whole loop with the real engine, ranks as threads; and with an engine that fails on purpose.
#include "runtime/trainer.hpp"

#include "runtime/cpu_engine.hpp"
#include "runtime/thread_communicator.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>
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
  std::vector<double> losses;
  std::vector<EpochRecord> epochs;
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
  const Net net = build_net(net_name, subset().train.shape, subset().classes);
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

}  // namespace

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
  const Net net = build_net("mlp", subset().train.shape, subset().classes);
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

TEST_CASE("trainer: a batch that the ranks cannot share is refused") {
  expect_error(ErrorKind::usage, "40 cannot be divided by 3 ranks; the nearest that can: 39 or 42",
               [] { run_on(3, make_plan(1, 1), "mlp"); });
}

}  // namespace ddlrun::runtime
