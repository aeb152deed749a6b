// SPDX-License-Identifier: MIT
// Update optimizers against PyTorch's own optimizers and against the formulas that Caffe and You et al.
// publish.
#include "runtime/training/optimizer.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ddlrun::runtime {
namespace {

const std::vector<float> first_weights{0.5F, -1.25F, 2.0F};
const std::vector<std::vector<float>> three_gradients{
    {0.2F, -0.4F, 1.0F}, {-0.1F, 0.3F, 0.6F}, {0.05F, 0.25F, -0.8F}};
constexpr double three_rates[] = {0.1, 0.05, 0.02};

Optimizer make_rule_of(OptimizerKind kind, OptimizerForm form = OptimizerForm::torch) {
  Optimizer optimizer;
  optimizer.kind = kind;
  optimizer.form = form;
  optimizer.momentum2 = 0.99;
  optimizer.rms_decay = 0.95;
  optimizer.epsilon = 1e-3;
  optimizer.weight_decay = 0.01;
  optimizer.trust = 0.02;
  return optimizer;
}

struct Vectors {
  std::vector<float> weights;
  std::vector<std::vector<float>> state;

  explicit Vectors(const Optimizer& optimizer, std::vector<float> start = first_weights)
      : weights(std::move(start)),
        state(state_names(optimizer).size(), std::vector<float>(weights.size(), 0.0F)) {}
  OptimizerState learning() {
    OptimizerState learning{weights, {}};
    for (std::vector<float>& one : state) learning.state.emplace_back(one);
    return learning;
  }
};

std::vector<float> learn_three_steps(const Optimizer& optimizer) {
  Vectors vectors(optimizer);
  const ParamGroup runs[] = {{{0, 3}, 1.0, 1.0}};
  for (std::size_t step = 0; step < 3; ++step) {
    const double scale = clip_scale(optimizer, three_gradients[step]);
    update_range(optimizer, runs, {three_rates[step], step, scale}, {0, 3}, three_gradients[step],
                 vectors.learning());
  }
  return vectors.weights;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/training/optimizer");

// namespace

TEST_CASE("optimizer: three steps with weight decay as torch.optim of PyTorch 1.13.1 makes them") {
  struct Row {
    OptimizerKind kind;
    double clip;
    std::vector<double> weights;
  };
  const Row rows[] = {
      {OptimizerKind::sgd, 0.0, {0.472332933, -1.20784213, 1.80912113}},
      {OptimizerKind::nesterov, 0.0, {0.458290425, -1.19001238, 1.71104156}},
      {OptimizerKind::adam, 0.0, {0.37869465, -1.14789602, 1.84676415}},
      {OptimizerKind::adagrad, 0.0, {0.416957507, -1.18738097, 1.88512793}},
      {OptimizerKind::rmsprop, 0.0, {0.139713751, -0.977261633, 1.48807557}},
      {OptimizerKind::adadelta, 0.0, {0.493029295, -1.24574976, 1.98807954}},
      {OptimizerKind::sgd, 0.5, {0.488464714, -1.23548741, 1.90093924}},  // clip_grad_norm_ before the step
  };
  for (const Row& row : rows) {
    CAPTURE(name_of(row.kind));
    Optimizer optimizer = make_rule_of(row.kind);
    optimizer.clip = row.clip;
    const std::vector<float> weights = learn_three_steps(optimizer);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(static_cast<double>(weights[i]) == doctest::Approx(row.weights[i]).epsilon(2e-6));
  }
}

// ComputeUpdateValue of each solver (src/caffe/solvers), worked out in double precision.
TEST_CASE("optimizer: three steps as Caffe's solvers make them") {
  struct Row {
    OptimizerKind kind;
    bool l1;
    std::vector<double> weights;
  };
  const Row rows[] = {
      {OptimizerKind::sgd, false, {0.452396313, -1.17032698, 1.68042185}},
      {OptimizerKind::nesterov, false, {0.440353445, -1.15626077, 1.59524195}},
      {OptimizerKind::adam, false, {0.383627808, -1.1500658, 1.84801157}},
      {OptimizerKind::adagrad, false, {0.416957507, -1.18738097, 1.88512793}},
      {OptimizerKind::rmsprop, false, {0.139713751, -0.977261633, 1.48807557}},
      {OptimizerKind::adadelta, false, {0.493029295, -1.24574976, 1.98807954}},
      {OptimizerKind::sgd, true, {0.45044, -1.17124, 1.68414}},
      {OptimizerKind::lars, false, {0.498164631, -1.24732116, 1.9849265}},  // You et al. 2017, algorithm 1
  };
  for (const Row& row : rows) {
    CAPTURE(name_of(row.kind));
    Optimizer optimizer = make_rule_of(row.kind, OptimizerForm::caffe);
    optimizer.l1 = row.l1;
    const std::vector<float> weights = learn_three_steps(optimizer);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(static_cast<double>(weights[i]) == doctest::Approx(row.weights[i]).epsilon(2e-6));
  }
}

TEST_CASE("optimizer: any cut of the vectors gives the same bits") {
  constexpr std::size_t count = 1000;
  std::vector<float> start(count);
  std::vector<float> gradients(count);
  for (std::size_t i = 0; i < count; ++i) {
    start[i] = std::sin(static_cast<float>(i));
    gradients[i] = std::cos(static_cast<float>(3 * i));
  }
  const ParamGroup runs[] = {{{0, 333}, 1.0, 1.0}, {{333, 340}, 2.0, 0.0}, {{340, count}, 0.5, 1.0}};
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::nesterov, OptimizerKind::adam,
                                   OptimizerKind::adagrad, OptimizerKind::rmsprop, OptimizerKind::adadelta}) {
    CAPTURE(name_of(kind));
    const Optimizer optimizer = make_rule_of(kind);
    Vectors whole(optimizer, start);
    Vectors cut(optimizer, start);
    for (std::size_t step = 0; step < 3; ++step) {
      const StepHyperparams rates{0.1, step};
      update_range(optimizer, runs, rates, {0, count}, gradients, whole.learning());
      for (std::size_t begin = 0; begin < count;) {
        const std::size_t end = std::min(count, begin + 1 + begin % 77);
        update_range(optimizer, runs, rates, {begin, end}, std::span(gradients).subspan(begin, end - begin),
                     cut.learning());
        begin = end;
      }
    }
    CHECK(whole.weights == cut.weights);
    CHECK(whole.state == cut.state);
    CHECK(whole.weights != start);
  }
}

TEST_CASE("optimizer: factors of a tensor's rate and decay") {
  Optimizer optimizer;
  optimizer.momentum = 0.0;
  optimizer.weight_decay = 0.5;
  Vectors vectors(optimizer, {1.0F, 1.0F, 1.0F});
  const ParamGroup runs[] = {{{0, 1}, 1.0, 1.0}, {{1, 2}, 2.0, 0.0}, {{2, 3}, 0.0, 1.0}};
  const std::vector<float> gradients{0.25F, 0.25F, 0.25F};
  update_range(optimizer, runs, {0.5, 0}, {0, 3}, gradients, vectors.learning());
  CHECK(vectors.weights == std::vector<float>{0.625F, 0.75F, 1.0F});  // 1 - 0.5*(0.25+0.5), 1 - 1*0.25, fixed
}

TEST_CASE("optimizer: lars moves a tensor of zeros, and the norm of a tensor is its own") {
  Optimizer optimizer = make_rule_of(OptimizerKind::lars);
  optimizer.weight_decay = 0.0;
  optimizer.momentum = 0.0;
  Vectors vectors(optimizer, {3.0F, 4.0F, 0.0F});
  const ParamGroup runs[] = {{{0, 2}, 1.0, 1.0}, {{2, 3}, 1.0, 1.0}};
  const std::vector<float> gradients{0.0F, 2.0F, 1.0F};
  update_range(optimizer, runs, {1.0, 0}, {0, 3}, gradients, vectors.learning());
  CHECK(vectors.weights[1] == doctest::Approx(4.0 - 0.02 * 5.0 / 2.0 * 2.0));
  CHECK(vectors.weights[2] == doctest::Approx(-1.0));
}

TEST_CASE("optimizer: clipping scales to the norm, and only what is larger") {
  Optimizer optimizer;
  const std::vector<float> gradients{3.0F, 4.0F};
  CHECK(clip_scale(optimizer, gradients) == 1.0);
  optimizer.clip = 10.0;
  CHECK(clip_scale(optimizer, gradients) == 1.0);
  optimizer.clip = 2.5;
  CHECK(clip_scale(optimizer, gradients) == doctest::Approx(0.5));
}

TEST_CASE("optimizer: what they cannot use") {
  struct Row {
    const char* part;
    OptimizerKind kind;
    double Optimizer::*field;
    double value;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Row rows[] = {
      {"momentum 1 must be", OptimizerKind::sgd, &Optimizer::momentum, 1.0},
      {"momentum nan", OptimizerKind::sgd, &Optimizer::momentum, nan},
      {"momentum2 1 must be", OptimizerKind::adam, &Optimizer::momentum2, 1.0},
      {"rms decay -0.5", OptimizerKind::rmsprop, &Optimizer::rms_decay, -0.5},
      {"trust 0 must be above 0", OptimizerKind::lars, &Optimizer::trust, 0.0},
      {"epsilon 0 must be above 0", OptimizerKind::adagrad, &Optimizer::epsilon, 0.0},
      {"weight decay -1", OptimizerKind::sgd, &Optimizer::weight_decay, -1.0},
      {"clip -1", OptimizerKind::sgd, &Optimizer::clip, -1.0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    Optimizer optimizer;
    optimizer.kind = row.kind;
    CHECK(find_optimizer_errors(optimizer).empty());
    optimizer.*row.field = row.value;
    const std::vector<std::string> errors = find_optimizer_errors(optimizer);
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().find(row.part) != std::string::npos);
  }
  Optimizer optimizer;
  CHECK(render_optimizer(optimizer) == "sgd momentum 0.9 weight decay 0");
  optimizer.kind = OptimizerKind::rmsprop;  // its update reads no momentum
  CHECK(render_optimizer(optimizer) == "rmsprop rms decay 0.99 epsilon 1e-08 weight decay 0");
  optimizer.kind = OptimizerKind::adagrad;
  CHECK(render_optimizer(optimizer) == "adagrad epsilon 1e-08 weight decay 0");
  optimizer.kind = OptimizerKind::sgd;
  optimizer.momentum2 = 7.0;  // adam's, and this is sgd
  CHECK(find_optimizer_errors(optimizer).empty());
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
