// SPDX-License-Identifier: MIT
// Update rules against PyTorch's own optimizers and against the formulas that Caffe and You et al. publish.
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

UpdateRule make_rule_of(UpdateKind kind, RuleForm form = RuleForm::torch) {
  UpdateRule rule;
  rule.kind = kind;
  rule.form = form;
  rule.momentum2 = 0.99;
  rule.rms_decay = 0.95;
  rule.epsilon = 1e-3;
  rule.weight_decay = 0.01;
  rule.trust = 0.02;
  return rule;
}

struct Vectors {
  std::vector<float> weights;
  std::vector<std::vector<float>> state;

  explicit Vectors(const UpdateRule& rule, std::vector<float> start = first_weights)
      : weights(std::move(start)),
        state(state_names(rule).size(), std::vector<float>(weights.size(), 0.0F)) {}
  Learning learning() {
    Learning learning{weights, {}};
    for (std::vector<float>& one : state) learning.state.emplace_back(one);
    return learning;
  }
};

std::vector<float> learn_three_steps(const UpdateRule& rule) {
  Vectors vectors(rule);
  const RateRun runs[] = {{{0, 3}, 1.0, 1.0}};
  for (std::size_t step = 0; step < 3; ++step) {
    const double scale = clip_scale(rule, three_gradients[step]);
    update_range(rule, runs, {three_rates[step], step, scale}, {0, 3}, three_gradients[step],
                 vectors.learning());
  }
  return vectors.weights;
}

}  // namespace

TEST_CASE("update rules: three steps with weight decay as torch.optim of PyTorch 1.13.1 makes them") {
  struct Row {
    UpdateKind kind;
    double clip;
    std::vector<double> weights;
  };
  const Row rows[] = {
      {UpdateKind::sgd, 0.0, {0.472332933, -1.20784213, 1.80912113}},
      {UpdateKind::nesterov, 0.0, {0.458290425, -1.19001238, 1.71104156}},
      {UpdateKind::adam, 0.0, {0.37869465, -1.14789602, 1.84676415}},
      {UpdateKind::adagrad, 0.0, {0.416957507, -1.18738097, 1.88512793}},
      {UpdateKind::rmsprop, 0.0, {0.139713751, -0.977261633, 1.48807557}},
      {UpdateKind::adadelta, 0.0, {0.493029295, -1.24574976, 1.98807954}},
      {UpdateKind::sgd, 0.5, {0.488464714, -1.23548741, 1.90093924}},  // clip_grad_norm_ before the step
  };
  for (const Row& row : rows) {
    CAPTURE(name_of(row.kind));
    UpdateRule rule = make_rule_of(row.kind);
    rule.clip = row.clip;
    const std::vector<float> weights = learn_three_steps(rule);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(static_cast<double>(weights[i]) == doctest::Approx(row.weights[i]).epsilon(2e-6));
  }
}

// ComputeUpdateValue of each solver (src/caffe/solvers), worked out in double precision.
TEST_CASE("update rules: three steps as Caffe's solvers make them") {
  struct Row {
    UpdateKind kind;
    bool l1;
    std::vector<double> weights;
  };
  const Row rows[] = {
      {UpdateKind::sgd, false, {0.452396313, -1.17032698, 1.68042185}},
      {UpdateKind::nesterov, false, {0.440353445, -1.15626077, 1.59524195}},
      {UpdateKind::adam, false, {0.383627808, -1.1500658, 1.84801157}},
      {UpdateKind::adagrad, false, {0.416957507, -1.18738097, 1.88512793}},
      {UpdateKind::rmsprop, false, {0.139713751, -0.977261633, 1.48807557}},
      {UpdateKind::adadelta, false, {0.493029295, -1.24574976, 1.98807954}},
      {UpdateKind::sgd, true, {0.45044, -1.17124, 1.68414}},
      {UpdateKind::lars, false, {0.498164631, -1.24732116, 1.9849265}},  // You et al. 2017, algorithm 1
  };
  for (const Row& row : rows) {
    CAPTURE(name_of(row.kind));
    UpdateRule rule = make_rule_of(row.kind, RuleForm::caffe);
    rule.l1 = row.l1;
    const std::vector<float> weights = learn_three_steps(rule);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(static_cast<double>(weights[i]) == doctest::Approx(row.weights[i]).epsilon(2e-6));
  }
}

TEST_CASE("update rules: any cut of the vectors gives the same bits") {
  constexpr std::size_t count = 1000;
  std::vector<float> start(count);
  std::vector<float> gradients(count);
  for (std::size_t i = 0; i < count; ++i) {
    start[i] = std::sin(static_cast<float>(i));
    gradients[i] = std::cos(static_cast<float>(3 * i));
  }
  const RateRun runs[] = {{{0, 333}, 1.0, 1.0}, {{333, 340}, 2.0, 0.0}, {{340, count}, 0.5, 1.0}};
  for (const UpdateKind kind : {UpdateKind::sgd, UpdateKind::nesterov, UpdateKind::adam, UpdateKind::adagrad,
                                UpdateKind::rmsprop, UpdateKind::adadelta}) {
    CAPTURE(name_of(kind));
    const UpdateRule rule = make_rule_of(kind);
    Vectors whole(rule, start);
    Vectors cut(rule, start);
    for (std::size_t step = 0; step < 3; ++step) {
      const StepRates rates{0.1, step};
      update_range(rule, runs, rates, {0, count}, gradients, whole.learning());
      for (std::size_t begin = 0; begin < count;) {
        const std::size_t end = std::min(count, begin + 1 + begin % 77);
        update_range(rule, runs, rates, {begin, end}, std::span(gradients).subspan(begin, end - begin),
                     cut.learning());
        begin = end;
      }
    }
    CHECK(whole.weights == cut.weights);
    CHECK(whole.state == cut.state);
    CHECK(whole.weights != start);
  }
}

TEST_CASE("update rules: factors of a tensor's rate and decay") {
  UpdateRule rule;
  rule.momentum = 0.0;
  rule.weight_decay = 0.5;
  Vectors vectors(rule, {1.0F, 1.0F, 1.0F});
  const RateRun runs[] = {{{0, 1}, 1.0, 1.0}, {{1, 2}, 2.0, 0.0}, {{2, 3}, 0.0, 1.0}};
  const std::vector<float> gradients{0.25F, 0.25F, 0.25F};
  update_range(rule, runs, {0.5, 0}, {0, 3}, gradients, vectors.learning());
  CHECK(vectors.weights == std::vector<float>{0.625F, 0.75F, 1.0F});  // 1 - 0.5*(0.25+0.5), 1 - 1*0.25, fixed
}

TEST_CASE("update rules: lars moves a tensor of zeros, and the norm of a tensor is its own") {
  UpdateRule rule = make_rule_of(UpdateKind::lars);
  rule.weight_decay = 0.0;
  rule.momentum = 0.0;
  Vectors vectors(rule, {3.0F, 4.0F, 0.0F});
  const RateRun runs[] = {{{0, 2}, 1.0, 1.0}, {{2, 3}, 1.0, 1.0}};
  const std::vector<float> gradients{0.0F, 2.0F, 1.0F};
  update_range(rule, runs, {1.0, 0}, {0, 3}, gradients, vectors.learning());
  CHECK(vectors.weights[1] == doctest::Approx(4.0 - 0.02 * 5.0 / 2.0 * 2.0));
  CHECK(vectors.weights[2] == doctest::Approx(-1.0));
}

TEST_CASE("update rules: clipping scales to the norm, and only what is larger") {
  UpdateRule rule;
  const std::vector<float> gradients{3.0F, 4.0F};
  CHECK(clip_scale(rule, gradients) == 1.0);
  rule.clip = 10.0;
  CHECK(clip_scale(rule, gradients) == 1.0);
  rule.clip = 2.5;
  CHECK(clip_scale(rule, gradients) == doctest::Approx(0.5));
}

TEST_CASE("update rules: what they cannot use") {
  struct Row {
    const char* part;
    UpdateKind kind;
    double UpdateRule::*field;
    double value;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Row rows[] = {
      {"momentum 1 is not", UpdateKind::sgd, &UpdateRule::momentum, 1.0},
      {"momentum nan", UpdateKind::sgd, &UpdateRule::momentum, nan},
      {"momentum2 1 is not", UpdateKind::adam, &UpdateRule::momentum2, 1.0},
      {"rms decay -0.5", UpdateKind::rmsprop, &UpdateRule::rms_decay, -0.5},
      {"trust 0 is not above 0", UpdateKind::lars, &UpdateRule::trust, 0.0},
      {"epsilon 0 is not above 0", UpdateKind::adagrad, &UpdateRule::epsilon, 0.0},
      {"weight decay -1", UpdateKind::sgd, &UpdateRule::weight_decay, -1.0},
      {"clip -1", UpdateKind::sgd, &UpdateRule::clip, -1.0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    UpdateRule rule;
    rule.kind = row.kind;
    CHECK(find_rule_mistakes(rule).empty());
    rule.*row.field = row.value;
    const std::vector<std::string> mistakes = find_rule_mistakes(rule);
    REQUIRE(mistakes.size() == 1);
    CHECK(mistakes.front().find(row.part) != std::string::npos);
  }
  UpdateRule rule;
  CHECK(render_rule(rule) == "sgd momentum 0.9 weight decay 0");
  rule.kind = UpdateKind::rmsprop;  // its update reads no momentum
  CHECK(render_rule(rule) == "rmsprop rms decay 0.99 epsilon 1e-08 weight decay 0");
  rule.kind = UpdateKind::adagrad;
  CHECK(render_rule(rule) == "adagrad epsilon 1e-08 weight decay 0");
  rule.kind = UpdateKind::sgd;
  rule.momentum2 = 7.0;  // adam's, and this is sgd
  CHECK(find_rule_mistakes(rule).empty());
}

}  // namespace ddlrun::runtime
