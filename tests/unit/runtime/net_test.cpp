// SPDX-License-Identifier: MIT
#include "runtime/net.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ddlrun::runtime {

TEST_CASE("net: LeNet-5 has the parameters of the paper's fully connected form") {
  // 6*(25+1) + 16*(6*25+1) + 120*(400+1) + 84*(120+1) + 10*(84+1)
  CHECK(build_net("lenet5", {1, 28, 28}, 10).parameter_count == 61'706);
  CHECK(build_net("lenet5", {1, 32, 32}, 10).parameter_count == 61'706);
  CHECK(build_net("mlp", {1, 28, 28}, 10).parameter_count == 785 * 256 + 257 * 128 + 129 * 10);
}

TEST_CASE("net: ranges in the flat vector follow each other without gaps") {
  const Net net = build_net("lenet5", {1, 28, 28}, 10);
  std::size_t next = 0;
  for (const PlannedLayer& layer : net.layers) {
    CHECK(layer.weights_offset == next);
    CHECK(layer.bias_offset == next + layer.weights_count);
    next = layer.bias_offset + layer.bias_count;
  }
  CHECK(next == net.parameter_count);
  CHECK(net.layers[5].output == Shape{16, 5, 5});
  CHECK(net.classes == 10);
}

TEST_CASE("net: refusals") {
  expect_error(ErrorKind::request, "28x28 or 32x32 with one channel, but these are 20x30 with 1", [] {
    build_net("lenet5", {1, 20, 30}, 10);
  });
  expect_error(ErrorKind::usage, "there is no net 'resnet'", [] { build_net("resnet", {1, 28, 28}, 10); });
  expect_error(ErrorKind::request, "at most 2147483632 fit", [] { build_net("mlp", {1, 32768, 32768}, 10); });
  const Layer big[] = {convolution(1, 9)};
  expect_error(ErrorKind::request, "kernel of 9x9, but its input is only 8", [&] {
    plan_net("n", {1, 8, 8}, big);
  });
}

TEST_CASE("net: first weights depend on the seed only and stay within their limits") {
  const Net net = build_net("mlp", {1, 28, 28}, 10);
  const std::vector<float> a = initial_parameters(net, 3);
  CHECK(a == initial_parameters(net, 3));
  CHECK(a != initial_parameters(net, 4));
  const PlannedLayer& first = net.layers[0];
  double squares = 0.0;
  for (std::size_t i = 0; i < first.weights_count; ++i) {
    REQUIRE(std::abs(a[i]) <= std::sqrt(6.0 / 784.0));
    squares += static_cast<double>(a[i]) * static_cast<double>(a[i]);
  }
  // He et al. 2015: a variance of 2 / fan_in.
  CHECK(squares / static_cast<double>(first.weights_count) == doctest::Approx(2.0 / 784.0).epsilon(0.02));
  CHECK(a[first.bias_offset] == 0.0F);
}

}  // namespace ddlrun::runtime
