// SPDX-License-Identifier: MIT
#include "runtime/models/net.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/models/net");

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

TEST_CASE("net: the well-known nets have the published numbers of parameters") {
  struct Row {
    const char* name;
    Shape images;
    int classes;
    std::size_t parameters;
  };
  const Row rows[] = {
      {"lenet5", {1, 28, 28}, 10, 61'706},
      {"caffe", {1, 28, 28}, 10, 431'080},
      {"ddl", {1, 28, 28}, 10, 3'274'634},
      {"cifar-quick", {3, 32, 32}, 10, 145'578},
      {"alexnet", {3, 227, 227}, 1000, 60'965'224},
      {"alexnet", {3, 224, 224}, 1000, 60'965'224},
      {"resnet-18", {3, 224, 224}, 1000, 11'689'512},
      {"resnet-50", {3, 224, 224}, 1000, 25'557'032},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(build_net(row.name, row.images, row.classes).parameter_count == row.parameters);
  }
  // torchvision's buffers without the counters: 2 x 4,800 channels and 2 x 26,560 channels.
  CHECK(build_net("resnet-18", {3, 224, 224}, 1000).state_count == 9'600);
  CHECK(build_net("resnet-50", {3, 224, 224}, 1000).state_count == 53'120);
}

TEST_CASE("net: tensors have names and lie in order without gaps") {
  const Net net = build_net("resnet-18", {3, 64, 64}, 10);
  std::size_t next = 0;
  for (const NamedTensor& tensor : net.parameters) {
    CHECK(tensor.offset == next);
    std::size_t count = 1;
    for (const int dim : tensor.dims) count *= static_cast<std::size_t>(dim);
    CHECK(tensor.count == count);
    next += tensor.count;
  }
  CHECK(next == net.parameter_count);
  CHECK(net.parameters[0].name == "conv1.weight");
  CHECK(net.parameters[0].dims == std::vector<int>{64, 3, 7, 7});
  CHECK(net.parameters[1].name == "bn1.weight");
  CHECK(net.parameters[2].name == "bn1.bias");
  CHECK(net.state[0].name == "bn1.running_mean");
  CHECK(net.state[1].name == "bn1.running_var");
  CHECK(net.state[1].offset == 64);
  const std::vector<float> state = initial_state(net);
  CHECK(state[63] == 0.0F);
  CHECK(state[64] == 1.0F);
}

TEST_CASE("net: layers are put in an order in which each follows its inputs") {
  NetDescription description;
  description.name = "n";
  description.layers = {named("last", {"late"}, linear(3)), named("late", {"early"}, relu()),
                        named("early", {"data"}, linear(4))};
  description.layers.push_back(named("loss", {"last"}, relu()));
  description.layers.back().kind = LayerKind::softmax_loss;
  const Net net = plan_net(description, {1, 2, 2}, 3);
  REQUIRE(net.layers.size() == 3);
  CHECK(net.layers[0].name == "early");
  CHECK(net.layers[0].sources == std::vector<std::size_t>{from_images});
  CHECK(net.layers[1].name == "late");
  CHECK(net.layers[2].name == "last");
  CHECK(net.layers[2].sources == std::vector<std::size_t>{1});
  CHECK(net.classes == 3);
}

TEST_CASE("net: windows, whole and hanging, as Caffe counts them") {
  struct Row {
    Rounding rounding;
    int kernel, stride, padding, size, expected;
  };
  const Row rows[] = {
      {Rounding::floor, 3, 2, 0, 32, 15}, {Rounding::ceil, 3, 2, 0, 32, 16},
      {Rounding::ceil, 3, 2, 0, 55, 27},  {Rounding::floor, 3, 2, 1, 112, 56},
      {Rounding::ceil, 3, 2, 1, 112, 57}, {Rounding::ceil, 2, 2, 1, 9, 5},
      {Rounding::ceil, 2, 3, 0, 6, 2},    {Rounding::ceil, 1, 3, 0, 5, 2},
  };
  for (const Row& row : rows) {
    CAPTURE(row.size);
    CAPTURE(row.padding);
    const Layer layers[] = {pool(PoolMethod::max, row.kernel, row.stride, row.padding, row.rounding)};
    CHECK(plan_net("n", {1, row.size, row.size}, layers).layers[0].output ==
          Shape{1, row.expected, row.expected});
  }
}

TEST_CASE("net: equal nets have equal fingerprints, others do not") {
  const auto of = [](std::vector<Layer> layers) { return fingerprint(plan_net("n", {1, 8, 8}, layers)); };
  CHECK(of({convolution(4, 3), linear(3)}) == of({convolution(4, 3), linear(3)}));
  CHECK(of({convolution(4, 3), linear(3)}) != of({convolution(4, 3), named("x", linear(3))}));
  CHECK(of({convolution(4, 3), linear(3)}) != of({convolution(4, 3), linear(4)}));
  CHECK(of({dropout(0.5), linear(3)}) != of({dropout(0.4), linear(3)}));
}

TEST_CASE("net: refusals") {
  expect_error(ErrorKind::request, "lenet5 needs images of 1x28x28 or 1x32x32, but these are 1x20x30", [] {
    build_net("lenet5", {1, 20, 30}, 10);
  });
  expect_error(ErrorKind::usage, "unknown net 'resnet'", [] { build_net("resnet", {1, 28, 28}, 10); });
  expect_error(ErrorKind::request, "at most 2147483632 fit", [] { build_net("mlp", {1, 32768, 32768}, 10); });
  const auto refused = [](const char* what, std::vector<Layer> layers, int classes = 0) {
    NetDescription description;
    description.name = "n";
    description.location = "--net n";
    description.layers = std::move(layers);
    expect_error(ErrorKind::request, what, [&] { plan_net(description, {1, 8, 8}, classes); });
  };
  refused("kernel of 9x9, but its input is only 8", {convolution(1, 9)});
  refused("the net has no layers", {});
  refused("layer relu1 reads 'conv', which is not a layer", {named("", {"conv"}, relu())});
  refused("two layers are named 'a'", {named("a", relu()), named("a", relu())});
  refused("no layer reads the output of layer a", {named("a", relu()), named("b", {"data"}, relu())});
  refused("2 of 3 layers form a cycle: a, b",
          {named("a", {"b"}, relu()), named("b", {"a"}, relu()), named("c", {"data"}, relu())});
  refused(
      "sums 3x6x6 and 2x6x6; the shapes must be equal",
      {named("a", {"data"}, convolution(3, 3)), named("b", {"data"}, convolution(2, 3)), sum({"a", "b"})});
  refused("joins the channels of 1x8x8 and 2x6x6; heights and widths must be equal",
          {named("b", {"data"}, convolution(2, 3)), concat({"data", "b"})});
  refused("has 5 outputs, but the data has 10 classes", {linear(5)}, 10);
  refused("has 2 inputs; a layer of kind relu takes one", {named("r", {"data", "data"}, relu())});
  refused("a padding of 2x2, which must be less than its kernel of 2x2",
          {pool(PoolMethod::max, 2, 2, 2, Rounding::floor)});
  refused("has a rate of 1; it must be at least 0 and less than 1", {dropout(1.0)});
  Layer grouped = convolution(4, 3);
  grouped.groups = 3;
  refused("has 3 groups, which must divide its 1 input and 4 output channels", {grouped});
  Layer leaky = relu();
  leaky.slope = -0.1;
  refused("has a slope of -0.1; it must be 0 or more", {leaky});
  Layer dilated = convolution(4, 3);
  dilated.dilation = {4, 1};
  refused("has a kernel of 9x3, but its input is only 8x8 with padding", {dilated});
  dilated.dilation = {0, 1};
  refused("has a dilation of 0x1; both must be 1 to", {dilated});
  // All at once.
  refused("(the first of 3 errors)\n  and: ",
          {named("a", {"none"}, relu()), named("b", {"data"}, linear(0)),
           named("c", {"data"}, convolution(2, 0)), sum({"a", "b", "c"})});
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

TEST_SUITE_END();

}  // namespace ddlrun::runtime
