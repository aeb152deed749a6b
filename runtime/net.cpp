// SPDX-License-Identifier: MIT
#include "runtime/net.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/random.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ddlrun::runtime {
namespace {

// One gradient goes into one MPI call, whose count is an int; three slots are kept for the step's totals.
constexpr std::uint64_t max_parameters = (std::uint64_t{1} << 31) - 16;

Error bad_net(const std::string& net, std::string what) {
  return {ErrorKind::request, {std::move(what), "--net " + net, "ddl-train --net mlp"}};
}

int shrink(const std::string& net, const PlannedLayer& planned, int size) {
  const Layer& layer = planned.layer;
  const int padded = size + 2 * layer.padding;
  if (padded < layer.kernel) {
    throw bad_net(net,
                  fmt::format("layer {} has a kernel of {}x{}, but its input is only {} wide with padding",
                              planned.name, layer.kernel, layer.kernel, padded));
  }
  return layer.kind == LayerKind::max_pool ? padded / layer.kernel : padded - layer.kernel + 1;
}

Shape output_shape(const std::string& net, const PlannedLayer& planned) {
  const Shape& in = planned.input;
  switch (planned.layer.kind) {
    case LayerKind::relu:
      return in;
    case LayerKind::linear:
      return {planned.layer.outputs, 1, 1};
    case LayerKind::max_pool:
      return {in.channels, shrink(net, planned, in.height), shrink(net, planned, in.width)};
    case LayerKind::convolution:
      return {planned.layer.outputs, shrink(net, planned, in.height), shrink(net, planned, in.width)};
  }
  return in;
}

std::uint64_t weight_count(const PlannedLayer& planned) {
  const auto outputs = static_cast<std::uint64_t>(planned.layer.outputs);
  const auto kernel = static_cast<std::uint64_t>(planned.layer.kernel);
  switch (planned.layer.kind) {
    case LayerKind::convolution:
      return outputs * static_cast<std::uint64_t>(planned.input.channels) * kernel * kernel;
    case LayerKind::linear:
      return outputs * planned.input.count();
    default:
      return 0;
  }
}

std::string layer_name(LayerKind kind, std::size_t index) {
  const char* const names[] = {"convolution", "max_pool", "relu", "linear"};
  return fmt::format("{}{}", names[static_cast<int>(kind)], index + 1);
}

Net build_lenet5(Shape input, int classes) {
  const bool small = input == Shape{1, 28, 28};
  if (!small && input != Shape{1, 32, 32}) {
    throw bad_net("lenet5", fmt::format("lenet5 needs images of 28x28 or 32x32 with one channel, "
                                        "but these are {}x{} with {}",
                                        input.height, input.width, input.channels));
  }
  // The paper's net reads 32x32; 28x28 images get a border of 2, as if they were pasted into 32x32.
  const Layer layers[] = {convolution(6, 5, small ? 2 : 0),
                          relu(),
                          max_pool(2),
                          convolution(16, 5),
                          relu(),
                          max_pool(2),
                          linear(120),
                          relu(),
                          linear(84),
                          relu(),
                          linear(classes)};
  return plan_net("lenet5", input, layers);
}

Net build_mlp(Shape input, int classes) {
  const Layer layers[] = {linear(256), relu(), linear(128), relu(), linear(classes)};
  return plan_net("mlp", input, layers);
}

struct NetEntry {
  const char* name;
  Net (*build)(Shape, int);
};
constexpr NetEntry known_nets[] = {{"lenet5", build_lenet5}, {"mlp", build_mlp}};

}  // namespace

std::size_t Shape::count() const {
  return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
         static_cast<std::size_t>(width);
}

Layer convolution(int outputs, int kernel, int padding) {
  return {LayerKind::convolution, outputs, kernel, padding};
}
Layer max_pool(int kernel) { return {LayerKind::max_pool, 0, kernel, 0}; }
Layer relu() { return {LayerKind::relu, 0, 0, 0}; }
Layer linear(int outputs) { return {LayerKind::linear, outputs, 0, 0}; }

Net plan_net(std::string name, Shape input, std::span<const Layer> layers) {
  Net net{std::move(name), input, 0, 0, {}};
  std::uint64_t offset = 0;
  for (const Layer& layer : layers) {
    PlannedLayer planned{layer, layer_name(layer.kind, net.layers.size()), input, {}, 0, 0, 0, 0};
    planned.output = output_shape(net.name, planned);
    const std::uint64_t weights = weight_count(planned);
    planned.weights_offset = offset;
    planned.weights_count = weights;
    planned.bias_count = weights == 0 ? 0 : static_cast<std::size_t>(layer.outputs);
    planned.bias_offset = offset + weights;
    offset += weights + planned.bias_count;
    if (offset > max_parameters) {
      throw bad_net(net.name,
                    fmt::format("images of {}x{} make {} parameters, and at most {} fit one message",
                                net.input.height, net.input.width, offset, max_parameters));
    }
    input = planned.output;
    net.layers.push_back(std::move(planned));
  }
  net.classes = input.channels;
  net.parameter_count = offset;
  return net;
}

std::vector<std::string> net_names() {
  std::vector<std::string> names;
  for (const NetEntry& entry : known_nets) names.emplace_back(entry.name);
  return names;
}

Net build_net(std::string_view name, Shape input, int classes) {
  for (const NetEntry& entry : known_nets) {
    if (name == entry.name) return entry.build(input, classes);
  }
  throw Error(ErrorKind::usage,
              {fmt::format("there is no net '{}'; the nets are {}", printable(name), join(net_names(), ", ")),
               "--net", "ddl-train --net lenet5"});
}

std::vector<float> initial_parameters(const Net& net, std::uint64_t seed) {
  std::vector<float> parameters(net.parameter_count, 0.0F);
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    const PlannedLayer& planned = net.layers[i];
    if (planned.weights_count == 0) continue;
    // A tenth of LeCun's limit for the last layer: the first loss is then about log(classes), a calm start.
    const double gain = i + 1 == net.layers.size() ? 0.03 : 6.0;
    const double limit = std::sqrt(gain / static_cast<double>(planned.fan_in()));
    Random random(mix_seed(seed, i));
    for (std::size_t w = 0; w < planned.weights_count; ++w) {
      parameters[planned.weights_offset + w] = static_cast<float>((2.0 * random.uniform() - 1.0) * limit);
    }
  }
  return parameters;
}

}  // namespace ddlrun::runtime
