// SPDX-License-Identifier: MIT
// Training through parameter servers, ranks as threads, beside training by all-reduce.
#include "runtime/parameter_server/server_trainer.hpp"

#include "runtime/comm/thread_communicator.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/parameter_server/thread_ps_transport.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>

namespace ddlrun::runtime {
namespace {

const Dataset& server_data() {
  static const Dataset data = load_dataset(DDLRUN_TEST_DATA "/fashion-mnist-subset");
  return data;
}

struct Outcome {
  TrainSummary summary;
  std::vector<EpochRecord> epochs;
  std::vector<double> losses;
  std::vector<std::size_t> tested;
  std::vector<float> saved;
  std::vector<std::size_t> saves;  // the steps
};

class EpochKeeper : public TrainObserver {
 public:
  explicit EpochKeeper(Outcome& outcome) : outcome_(outcome) {}
  void on_epoch(const EpochRecord& record) override { outcome_.epochs.push_back(record); }
  void on_step(const StepRecord& record) override { outcome_.losses.push_back(record.loss); }
  void on_test(const TestRecord& record) override { outcome_.tested.push_back(record.step); }

 private:
  Outcome& outcome_;
};

// Keeps what would be saved, each `every` steps too; wants to stop after so many questions.
class MemorySaver : public TrainSaver {
 public:
  MemorySaver(Outcome* outcome, int stop_after, std::size_t every = 0)
      : outcome_(outcome), left_(stop_after), every_(every) {}
  bool due(const TrainPosition& position, bool epoch_done) const override {
    return every_ != 0 && !epoch_done && position.step % every_ == 0;
  }
  bool stop_requested() const override { return left_ >= 0 && left_-- == 0; }
  void save(const TrainStateView& state, SaveReason) override {
    if (outcome_ == nullptr) return;
    outcome_->saved.assign(state.parameters.begin(), state.parameters.end());
    outcome_->saves.push_back(state.position.step);
  }

 private:
  Outcome* outcome_;
  mutable int left_;
  std::size_t every_;
};

TrainPlan server_plan(std::size_t epochs, std::size_t batch) {
  TrainPlan plan;
  plan.epochs = epochs;
  plan.global_batch = batch;
  plan.schedule.peak = 0.02;
  return plan;
}

Outcome run_servers(int ranks, const TrainPlan& plan, const ServerRoles& roles, int stop_after = -1,
                    std::size_t save_every = 0, int stopper = 0) {
  Outcome outcome;
  ThreadPsNetwork network(ranks);
  const Net net = build_net("mlp", server_data().input(), server_data().classes);
  run_ranks_as_threads(ranks, [&](Communicator& group) {
    set_cpu_threads(1);
    const bool first = group.rank() == 0;
    TrainObserver silent;
    EpochKeeper keeper(outcome);
    MemorySaver saver(first ? &outcome : nullptr, group.rank() == stopper ? stop_after : -1, save_every);
    const auto transport = network.join(group.rank());
    try {
      const TrainSummary summary =
          train_with_servers(plan, roles, net, server_data(), group, *transport, make_cpu_engine,
                             first ? static_cast<TrainObserver&>(keeper) : silent, saver, nullptr);
      if (first) outcome.summary = summary;
    } catch (...) {
      network.close();
      throw;
    }
  });
  return outcome;
}

Outcome run_all_reduce(int ranks, const TrainPlan& plan) {
  Outcome outcome;
  const Net net = build_net("mlp", server_data().input(), server_data().classes);
  run_ranks_as_threads(ranks, [&](Communicator& group) {
    set_cpu_threads(1);
    TrainObserver silent;
    EpochKeeper keeper(outcome);
    const bool first = group.rank() == 0;
    const TrainSummary summary = train(plan, net, server_data(), group, make_cpu_engine,
                                       first ? static_cast<TrainObserver&>(keeper) : silent);
    if (first) outcome.summary = summary;
  });
  return outcome;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/parameter_server/server_trainer");

// namespace

TEST_CASE("synchronous servers have the curve of an all-reduce") {
  const TrainPlan plan = server_plan(2, 40);
  const Outcome summed = run_all_reduce(2, plan);
  const EpochRecord& expected = summed.summary.last;
  for (const std::size_t servers : {1, 2, 3}) {
    CAPTURE(servers);
    const Outcome run = run_servers(static_cast<int>(2 + servers), plan, {servers, false});
    CHECK(run.summary.last.train_loss == doctest::Approx(expected.train_loss).epsilon(1e-4));
    CHECK(run.summary.last.test_loss == doctest::Approx(expected.test_loss).epsilon(1e-3));
    CHECK(run.summary.last.train_accuracy == doctest::Approx(expected.train_accuracy).epsilon(2e-3));
    CHECK(run.summary.steps == 50);
    CHECK(run.epochs.size() == 2);
    REQUIRE(run.losses.size() == summed.losses.size());
    for (std::size_t i = 0; i < run.losses.size(); ++i)
      CHECK(run.losses[i] == doctest::Approx(summed.losses[i]).epsilon(1e-4));
  }
}

TEST_CASE("all ranks meet where a test or a checkpoint is due, and learn the same") {
  TrainPlan plan = server_plan(2, 40);  // 25 steps an epoch
  const Outcome plain = run_servers(3, plan, {1, false});
  plan.test_every = 20;
  const Outcome met = run_servers(3, plan, {1, false}, -1, 10);
  CHECK(met.tested == std::vector<std::size_t>{20, 40});
  CHECK(met.saves == std::vector<std::size_t>{10, 20, 30, 40, 50});
  CHECK(met.saved == plain.saved);
  CHECK(met.losses == plain.losses);
  CHECK(met.summary.last.train_loss == doctest::Approx(plain.summary.last.train_loss).epsilon(1e-6));
}

TEST_CASE("a server that wants to stop stops all") {
  for (const int stopper : {3, 4}) {  // the one that decides, and another
    CAPTURE(stopper);
    const Outcome run = run_servers(5, server_plan(2, 30), {2, false}, 7, 0, stopper);
    CHECK(run.summary.stopped);
    CHECK(run.summary.steps < 33);
    CHECK(run.saves == std::vector<std::size_t>{run.summary.steps});
  }
}

TEST_CASE("asynchronous servers learn, whatever the staleness") {
  for (const std::size_t staleness : {std::size_t{0}, std::size_t{2}, SIZE_MAX}) {
    CAPTURE(staleness);
    TrainPlan plan = server_plan(3, 30);
    plan.schedule.peak = 0.02;
    plan.optimizer.momentum = 0.0;  // late gradients are a momentum of their own
    const Outcome run = run_servers(4, plan, {1, true, staleness});
    CHECK(run.summary.last.train_loss < 1.0);
    CHECK(run.summary.last.test_accuracy > 0.6);
    CHECK(run.summary.steps == 3 * 33);
    CHECK(run.summary.sums.find("asynchronous") != std::string::npos);
  }
}

TEST_CASE("a worker that wants to stop stops all at one step, and the weights are saved") {
  for (const bool asynchronous : {false, true}) {
    CAPTURE(asynchronous);
    const Outcome run = run_servers(5, server_plan(2, 30), {2, asynchronous}, 7);
    CHECK(run.summary.stopped);
    CHECK(run.summary.steps >= 8);
    CHECK(run.summary.steps < 33);
    CHECK(!run.saved.empty());
    CHECK(run.epochs.empty());
  }
}

TEST_CASE("roles that cannot be are refused") {
  TrainPlan plan = server_plan(1, 40);
  CHECK_THROWS_AS(check_servers(plan, {2, false}, 2), Error);
  CHECK_THROWS_AS(check_servers(plan, {0, false}, 2), Error);
  CHECK_NOTHROW(check_servers(plan, {1, false}, 2));
  plan.optimizer.kind = OptimizerKind::lars;
  CHECK_THROWS_AS(check_servers(plan, {1, false}, 2), Error);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
