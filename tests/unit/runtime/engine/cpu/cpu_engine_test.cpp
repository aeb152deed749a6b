// SPDX-License-Identifier: MIT
// The CPU engine against finite differences of a reference net in doubles, and the loss against closed forms.
#include "tests/unit/runtime/engine/engine_checks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/engine/cpu/cpu_engine");

TEST_CASE("engine: gradients of each layer") {
  check_gradients(make_net("linear", {1, 3, 4}, {linear(5)}), 3);
  check_gradients(make_net("relu", {1, 1, 9}, {linear(7), relu(), linear(3)}), 4);
  check_gradients(make_net("convolution", {1, 7, 6}, {convolution(4, 3), linear(3)}), 2);
  check_gradients(make_net("padding", {2, 5, 5}, {convolution(3, 3, 1), linear(4)}), 3);
  check_gradients(make_net("two convolutions", {1, 9, 9}, {convolution(3, 3), convolution(5, 3), linear(2)}),
                  2);
  check_gradients(make_net("pool", {1, 8, 8}, {convolution(2, 3, 1), max_pool(2), linear(3)}), 2);
  check_gradients(make_net("odd pool", {1, 7, 9}, {convolution(2, 2), max_pool(2), relu(), linear(3)}), 1);
  check_gradients(make_net("wide", {1, 4, 4}, {linear(33), relu(), linear(17), relu(), linear(10)}), 5);
}

TEST_CASE("engine: gradients of the whole nets") {
  check_gradients(build_net("lenet5", {1, 28, 28}, 10), 2);
  check_gradients(build_net("mlp", {1, 11, 13}, 7), 3);
}

TEST_CASE("engine: a batch's gradient is the sum of its halves'") {
  const Net net = build_net("lenet5", {1, 28, 28}, 10);
  std::vector<float> parameters = make_parameters(net);
  const Sample sample = make_sample(net, 8);
  std::vector<float> whole(parameters.size());
  std::vector<float> half(parameters.size());
  make_cpu_engine(net, 8, parameters, whole)->train_batch(sample.images, sample.labels, 0.125F);
  const auto engine = make_cpu_engine(net, 4, parameters, half);
  const std::span<const float> images = sample.images;
  const std::span<const Label> labels = sample.labels;
  std::vector<float> sum(parameters.size(), 0.0F);
  for (const std::size_t part : {0U, 1U}) {
    engine->train_batch(images.subspan(part * images.size() / 2, images.size() / 2),
                        labels.subspan(part * 4, 4), 0.125F);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += half[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i) REQUIRE(std::abs(sum[i] - whole[i]) < 1e-5F);
}

TEST_CASE("engine: evaluation agrees with training's forward pass and takes short batches") {
  const Net net = build_net("mlp", {1, 6, 6}, 4);
  std::vector<float> parameters = make_parameters(net);
  std::vector<float> gradients(parameters.size());
  const Sample sample = make_sample(net, 6);
  const auto engine = make_cpu_engine(net, 6, parameters, gradients);
  const LossSum trained = engine->train_batch(sample.images, sample.labels, 1.0F);
  const LossSum evaluated = engine->evaluate(sample.images, sample.labels);
  CHECK(evaluated.loss == doctest::Approx(trained.loss).epsilon(1e-5));
  CHECK(evaluated.correct == trained.correct);
}

TEST_CASE("loss: closed forms") {
  const std::vector<float> zeros(20, 0.0F);
  const std::vector<Label> labels{3, 9};
  std::vector<float> gradients(20);
  CHECK(softmax_cross_entropy(zeros, labels, 10, 1.0F, gradients).loss ==
        doctest::Approx(2.0 * std::log(10.0)));
  CHECK(gradients[0] == doctest::Approx(0.1));
  CHECK(gradients[3] == doctest::Approx(-0.9));
  const std::vector<float> two{std::log(3.0F), 0.0F};  // probabilities 3/4 and 1/4
  const LossSum right = softmax_cross_entropy(two, std::vector<Label>{0}, 2, 2.0F, gradients);
  CHECK(right.loss == doctest::Approx(std::log(4.0 / 3.0)));
  CHECK(right.correct == 1);
  CHECK(gradients[0] == doctest::Approx(-0.5));
  CHECK(gradients[1] == doctest::Approx(0.5));
  const std::vector<float> huge{1e30F, -1e30F};  // no overflow
  CHECK(softmax_cross_entropy(huge, std::vector<Label>{0}, 2, 1.0F, {}).loss == 0.0);
}

TEST_CASE("loss: a row that is not finite gives NaN and is not counted as right") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::size_t where : {0U, 1U, 2U}) {
      std::vector<float> logits{1.0F, 2.0F, 3.0F};
      logits[where] = bad;
      for (const Label label : {0, 1, 2}) {
        const LossSum sum = softmax_cross_entropy(logits, std::vector<Label>{label}, 3, 1.0F, {});
        CHECK(!std::isfinite(sum.loss));
        CHECK(sum.correct == 0);
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
