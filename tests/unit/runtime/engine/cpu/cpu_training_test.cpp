// SPDX-License-Identifier: MIT
// Nets of other forms than a chain learn from the small data set, on one rank and on two.
#include "runtime/comm/thread_communicator.hpp"
#include "runtime/models/net_yaml.hpp"
#include "runtime/training/trainer.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/runtime/engine/engine_checks.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {
namespace {

constexpr const char* residual_net = R"(name: residual
layers:
  - {name: conv1, kind: convolution, outputs: 16, kernel: 3, stride: 2, padding: 1, bias: false}
  - {name: bn1, kind: batch_norm}
  - {name: relu1, kind: relu}
  - {name: conv2, kind: convolution, outputs: 16, kernel: 3, padding: 1, bias: false}
  - {name: bn2, kind: batch_norm}
  - {name: sum2, kind: sum, inputs: [bn2, relu1]}
  - {name: relu2, kind: relu}
  - {name: conv3a, kind: convolution, outputs: 8, kernel: 1, inputs: [relu2]}
  - {name: conv3b, kind: convolution, outputs: 8, kernel: 3, padding: 1, groups: 2, inputs: [relu2]}
  - {name: both, kind: concat, inputs: [conv3a, conv3b]}
  - {name: norm3, kind: lrn}
  - {name: pool3, kind: average_pool, kernel: 3, stride: 2, rounding: ceil}
  - {name: drop3, kind: dropout, rate: 0.2}
  - {name: fc, kind: inner_product, outputs: classes}
  - {name: loss, kind: softmax_loss}
)";

Net plan_residual(Shape images, int classes) {
  return plan_net(parse_net_yaml(residual_net, "residual.yaml"), images, classes);
}

TrainSummary train_residual(int ranks) {
  const Dataset data = load_dataset(DDLRUN_TEST_DATA "/fashion-mnist-subset");
  const Net net = plan_residual(data.input(), data.classes);
  TrainPlan plan;
  plan.epochs = 4;
  plan.global_batch = 40;
  plan.schedule.peak = 0.01;
  TrainSummary summary;
  run_ranks_as_threads(ranks, [&](Communicator& group) {
    set_cpu_threads(1);
    TrainObserver silent;
    const TrainSummary mine = train(plan, net, data, group, make_cpu_engine, silent);
    if (group.rank() == 0) summary = mine;
  });
  return summary;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/engine/cpu/cpu_training");

// namespace

TEST_CASE("engine: gradients of whole nets that are no chains") {
  check_gradients(plan_residual({1, 28, 28}, 10), 4, 60);
  // Plain loops over 11 million weights take minutes there.
  if (!ddlrun::testing::with_asan) check_gradients(build_net("resnet-18", {3, 40, 40}, 5), 2, 2);
}

TEST_CASE("engine: a residual net with every kind of layer learns, and the same way each time") {
  const TrainSummary one = train_residual(1);
  CHECK(one.last.test_accuracy > 0.7);  // 0.1 is a guess
  CHECK(train_residual(1).weights_hash == one.weights_hash);
}

TEST_CASE("engine: running values of two ranks are averaged, so both test the same net") {
  CHECK(train_residual(2).last.test_accuracy > 0.7);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
