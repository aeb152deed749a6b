// SPDX-License-Identifier: MIT
// Sums that go on beside the next step: who waits for which, and that no bit of a run reports of it.
#include "runtime/training/gradient_reducer.hpp"

#include "runtime/comm/thread_communicator.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/training/trainer.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

namespace ddlrun::runtime {
namespace {

using namespace std::chrono_literals;

const Dataset& small_images() {
  static const Dataset data = load_dataset(DDLRUN_TEST_DATA "/fashion-mnist-subset");
  return data;
}

// Lets so many sums through; the others wait.
class GatedRanks : public SelfCommunicator {
 public:
  void all_reduce_sum(std::span<float>, std::string_view) override { pass(); }
  void all_reduce_update(std::span<float> data, std::string_view, const ApplySums& use) override {
    pass();
    use(0, data);
  }
  void open(int sums) {
    const std::lock_guard lock(mutex_);
    open_ += sums;
    changed_.notify_all();
  }

 private:
  void pass() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 60s, [&] { return open_ > 0; })) std::abort();  // no one opens
    --open_;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
};

// Parameters: 20, 165 and 18, at 0, 20 and 185.
Net make_gated_net() {
  const Layer layers[] = {convolution(2, 3, 1), relu(), linear(5), linear(3)};
  return plan_net("toy", {1, 4, 4}, layers);
}

class Observed : public TrainObserver {
 public:
  void on_step(const StepRecord& record) override { steps.push_back(record); }
  void on_test(const TestRecord& record) override { tests.push_back(record.test_loss); }
  void on_epoch(const EpochRecord& record) override { tests.push_back(record.test_loss); }
  std::vector<StepRecord> steps;
  std::vector<double> tests;
};

// Keeps a copy each time, and the last one to go on from.
class Keeper : public TrainSaver {
 public:
  bool due(const TrainPosition& position, bool epoch_done) const override {
    return !epoch_done && position.step % 7 == 0;
  }
  void save(const TrainStateView& view, SaveReason reason) override {
    TrainState state;
    state.position = view.position;
    state.parameters.assign(view.parameters.begin(), view.parameters.end());
    for (const auto part : view.optimizer_state) state.optimizer_state.emplace_back(part.begin(), part.end());
    state.layer_state.assign(view.layer_state.begin(), view.layer_state.end());
    if (reason == SaveReason::due) states.push_back(state);
  }
  std::vector<TrainState> states;
};

struct Course {
  Observed seen;
  Keeper kept;
  TrainSummary summary;
};

Course run_course(int ranks, const TrainPlan& plan, const char* net_name, const TrainState* start = nullptr) {
  Course course;
  const Net net = build_net(net_name, small_images().input(), small_images().classes);
  run_ranks_as_threads(ranks, [&](Communicator& group) {
    set_cpu_threads(1);
    Observed seen;
    Keeper kept;
    const TrainSummary summary =
        train(plan, net, small_images(), group, make_cpu_engine, seen, kept, start, nullptr);
    if (group.rank() == 0) course = {std::move(seen), std::move(kept), summary};
  });
  return course;
}

TrainPlan plan_course(Overlap overlap, OptimizerPlacement place, int ranks) {
  TrainPlan plan;
  plan.epochs = 10;
  plan.max_steps = 40;
  plan.global_batch = ranks == 3 ? 42 : 40;
  plan.schedule.peak = 0.005;
  plan.test_every = 9;
  plan.overlap = overlap;
  plan.placement = place;
  return plan;
}

void check_alike(const Course& one, const Course& other) {
  CHECK(one.summary.weights_hash == other.summary.weights_hash);
  REQUIRE(one.seen.steps.size() == other.seen.steps.size());
  for (std::size_t i = 0; i < one.seen.steps.size(); ++i)
    CHECK(one.seen.steps[i].loss == other.seen.steps[i].loss);
  CHECK(one.seen.tests == other.seen.tests);
  REQUIRE(one.kept.states.size() == other.kept.states.size());
  for (std::size_t i = 0; i < one.kept.states.size(); ++i) {
    CHECK(one.kept.states[i].parameters == other.kept.states[i].parameters);
    CHECK(one.kept.states[i].optimizer_state == other.kept.states[i].optimizer_state);
  }
}

// Reads its weights where it says so; in one step it has a gradient that is too large for a sum, or none.
class LateEngine : public Engine {
 public:
  LateEngine(const Net& net, std::span<float> parameters, std::span<float> gradients, float worst)
      : net_(net), parameters_(parameters), gradients_(gradients), worst_(worst) {}
  ~LateEngine() override {
    for (const float weight : parameters_) {
      if (!std::isfinite(weight)) std::abort();
    }
  }
  void on_gradients_final(GradientsFinal tell) override { final_ = std::move(tell); }
  bool on_parameters_needed(ParametersNeeded tell) override {
    need_ = std::move(tell);
    return true;
  }
  LossSum train_batch(std::span<const float>, std::span<const Label>, float) override {
    for (const PlannedLayer& layer : net_.layers) {
      const std::size_t count = layer.weights_count + layer.bias_count;
      if (count > 0) need_(layer.weights_offset, layer.weights_offset + count);
    }
    std::fill(gradients_.begin(), gradients_.end(), 0.125F);
    if (++batches_ == 3) gradients_[net_.parameter_count / 2] = worst_;
    final_(0);
    return {1.0, 0};
  }
  LossSum evaluate(std::span<const float>, std::span<const Label>) override { return {}; }
  std::size_t evaluation_batch() const override { return 100; }

 private:
  const Net& net_;
  std::span<float> parameters_;
  std::span<float> gradients_;
  float worst_;
  int batches_ = 0;
  GradientsFinal final_;
  ParametersNeeded need_;
};

}  // namespace
TEST_SUITE_BEGIN("runtime/training/gradient_reducer");

// namespace

TEST_CASE("across steps: a step ends with its head, and each layer waits for its own sums") {
  const Net net = make_gated_net();
  for (const bool for_host : {false, true}) {
    GatedRanks ranks;
    Optimizer optimizer;
    optimizer.momentum = 0.0;
    Weights weights(net, optimizer, ranks, for_host);
    weights.start(1, nullptr);
    GradientReducer sums(net, ranks, weights, optimizer, nullptr);
    sums.set_schedule({true, 200, 50});  // floats [128, 219), then [0, 48) with the metadata, then [48, 128)
    std::vector<float> expected(weights.parameters().begin(), weights.parameters().end());
    const std::vector<float> totals(total_count, 0.0F);

    sums.begin({0.5, 0});
    std::fill(sums.gradients().begin(), sums.gradients().end(), 2.0F);
    sums.gradients_final(185);
    sums.gradients_final(20);
    ranks.open(2);
    CHECK(sums.finish(totals, {}));
    sums.begin({100.0, 1});  // the next step's hyperparams are not for these sums
    CHECK(sums.wait_for(0, 20));
    CHECK(sums.wait_for(112, 203));  // what has come is not waited for
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (i < 32 || i >= 112) expected[i] -= 0.5F * 2.0F;
      CHECK(weights.parameters()[i] == expected[i]);
    }
    CHECK(sums.take_costs().held_seconds < 30.0);

    std::atomic<bool> opened = false;
    std::thread opener([&] {
      std::this_thread::sleep_for(50ms);
      opened = true;
      ranks.open(1);
    });
    CHECK(sums.wait_for(20, 185));
    CHECK(opened);
    opener.join();
    for (std::size_t i = 32; i < 112; ++i) CHECK(weights.parameters()[i] == expected[i] - 0.5F * 2.0F);
    const ReductionTimes costs = sums.take_costs();
    CHECK(costs.exposed_seconds > 0.02);  // waiting in a forward pass is communication
    CHECK(costs.held_seconds >= costs.exposed_seconds);
    CHECK(costs.sum_seconds > 0.02);
    CHECK(sums.drain());
    ranks.open(3);
    CHECK(sums.finish(totals, {}));
    CHECK(sums.drain());
  }
}

TEST_CASE("across steps: the CPU engine reads no parameter before it has reported it") {
  for (const char* name : {"lenet5", "cifar-quick", "resnet-18"}) {
    CAPTURE(name);
    const Net net = build_net(name, std::string(name) == "lenet5" ? Shape{1, 28, 28} : Shape{3, 32, 32}, 5);
    const std::vector<float> parameters = initial_parameters(net, 1);
    const std::size_t batch = 4;
    std::vector<float> images(batch * net.input.count());
    for (std::size_t i = 0; i < images.size(); ++i) images[i] = std::sin(static_cast<float>(i));
    const Label labels[] = {0, 1, 2, 3};
    std::vector<float> all = parameters;
    std::vector<float> gradients(parameters.size());
    std::vector<float> late(parameters.size());
    std::vector<float> late_gradients(parameters.size());
    const auto plain = make_cpu_engine(net, batch, all, gradients);
    const auto waiting = make_cpu_engine(net, batch, late, late_gradients);
    std::size_t reported = 0;
    REQUIRE(waiting->on_parameters_needed([&](std::size_t begin, std::size_t end) {
      CHECK(begin == reported);  // in the order of the layers
      std::copy(parameters.begin() + static_cast<std::ptrdiff_t>(begin),
                parameters.begin() + static_cast<std::ptrdiff_t>(end),
                late.begin() + static_cast<std::ptrdiff_t>(begin));
      reported = end;
    }));
    const auto forget = [&] {
      std::fill(late.begin(), late.end(), std::numeric_limits<float>::quiet_NaN());
      reported = 0;
    };
    forget();
    CHECK(waiting->train_batch(images, labels, 0.25F).loss == plain->train_batch(images, labels, 0.25F).loss);
    CHECK(reported == parameters.size());
    CHECK(late_gradients == gradients);
    forget();
    CHECK(waiting->evaluate(images, labels).loss == plain->evaluate(images, labels).loss);
    CHECK(reported == parameters.size());
  }
}

TEST_CASE("across steps: losses, tests, checkpoints and weights are those without overlap, to the bit") {
  for (const int ranks : {1, 2, 3}) {
    for (const std::size_t accumulate : {1U, 2U}) {
      if (ranks == 3 && accumulate == 2) continue;  // a rank's 14 images in two parts are no other case
      TrainPlan off = plan_course(Overlap::off, OptimizerPlacement::rank, ranks);
      off.accumulate = accumulate;
      const Course straight = run_course(ranks, off, "lenet5");
      CHECK(straight.kept.states.size() == 5);
      for (const OptimizerPlacement place : {OptimizerPlacement::rank, OptimizerPlacement::host}) {
        TrainPlan across = plan_course(Overlap::across, place, ranks);
        across.accumulate = accumulate;
        across.bucket_bytes = 20000;
        const Course course = run_course(ranks, across, "lenet5");
        check_alike(course, straight);
        CHECK((ranks == 1 || course.summary.sums.find("beside the next step") != std::string::npos));
      }
    }
  }
}

TEST_CASE("across steps: every rule learns as without, and a run goes on from its checkpoint") {
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::nesterov, OptimizerKind::lars}) {
    TrainPlan off = plan_course(Overlap::off, OptimizerPlacement::rank, 2);
    off.optimizer.kind = kind;
    off.schedule.peak = kind == OptimizerKind::adam ? 0.001 : 0.005;
    const Course straight = run_course(2, off, "caffe");
    TrainPlan across = off;
    across.overlap = Overlap::across;
    across.placement = OptimizerPlacement::automatic;
    const Course course = run_course(2, across, "caffe");
    check_alike(course, straight);
    // Norms wait_for all sums: then it is as `on`.
    CHECK((course.summary.sums.find("beside the next step") != std::string::npos) ==
          (kind != OptimizerKind::lars));
    const Course resumed = run_course(2, across, "caffe", &course.kept.states.at(2));
    CHECK(resumed.summary.weights_hash == straight.summary.weights_hash);
  }
}

TEST_CASE("across steps: what is not finite is refused with the step that it belongs to") {
  const Net net = build_net("mlp", small_images().input(), small_images().classes);
  for (const OptimizerPlacement place : {OptimizerPlacement::rank, OptimizerPlacement::host}) {
    for (const bool in_sum : {true, false}) {
      const Message message = expect_error(
          ErrorKind::request,
          in_sum ? "overflows float32 in step 3 of 25" : "not finite (NaN or infinite) in step 3 of 25", [&] {
            run_ranks_as_threads(4, [&](Communicator& group) {
              TrainPlan plan = plan_course(Overlap::across, place, 4);
              plan.max_steps = 25;
              plan.bucket_bytes = 4096;
              TrainObserver silent;
              train(
                  plan, net, small_images(), group,
                  [&](const Net& planned, std::size_t, std::span<float> parameters,
                      std::span<float> gradients) -> std::unique_ptr<Engine> {
                    const float worst = in_sum ? 3e38F : group.rank() == 2 ? std::nanf("") : 0.125F;
                    return std::make_unique<LateEngine>(planned, parameters, gradients, worst);
                  },
                  silent);
            });
          });
      CHECK(message.where.starts_with(in_sum ? "the gradients of each rank" : "rank 2 "));
    }
  }
}

TEST_CASE("across steps: times add up") {
  for (const OptimizerPlacement place : {OptimizerPlacement::rank, OptimizerPlacement::host}) {
    const Course course = run_course(2, plan_course(Overlap::across, place, 2), "caffe");
    for (const StepRecord& step : course.seen.steps) {
      CHECK(step.compute_seconds > 0.0);
      CHECK(step.sum_seconds > 0.0);
      CHECK(step.input_seconds + step.compute_seconds + step.comm_seconds <= step.step_seconds);
    }
  }
}

// Weights after two steps of large gradients; `bad`: an element that is no number in the second step.
std::vector<float> updated_weights(int threads, const Optimizer& optimizer, std::optional<std::size_t> bad) {
  set_cpu_threads(threads);
  const Layer layers[] = {linear(700), relu(), linear(3)};
  const Net net = plan_net("large", {1, 28, 28}, layers);
  SelfCommunicator ranks;
  Weights weights(net, optimizer, ranks, false);
  weights.start(1, nullptr);
  GradientReducer sums(net, ranks, weights, optimizer, nullptr);
  const std::vector<float> totals(total_count, 0.0F);
  for (std::size_t step = 0; step < 2; ++step) {
    sums.begin({0.1, step});
    for (std::size_t i = 0; i < sums.gradients().size(); ++i)
      sums.gradients()[i] = std::sin(static_cast<float>(i + step));
    if (step == 1 && bad) sums.gradients()[*bad] = std::numeric_limits<float>::infinity();
    CHECK(sums.finish(totals, {}) == !(step == 1 && bad));
    CHECK(sums.own_finite() == !(step == 1 && bad));
  }
  set_cpu_threads(1);
  return {weights.parameters().begin(), weights.parameters().end()};
}

TEST_CASE("updates: the bits of the weights do not depend on the number of threads") {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::lars}) {
    Optimizer optimizer;
    optimizer.kind = kind;
    for (const std::optional<std::size_t> bad :
         {std::optional<std::size_t>{}, std::optional<std::size_t>{300'000}}) {
      CAPTURE(bad.value_or(0));
      const std::vector<float> one = updated_weights(1, optimizer, bad);
      CHECK(one.size() > 500'000);
      for (const int threads : {2, 3, 7}) CHECK(updated_weights(threads, optimizer, bad) == one);
    }
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
