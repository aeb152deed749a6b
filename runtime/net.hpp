// SPDX-License-Identifier: MIT
// Networks as values: a list of layers, planned into shapes and places in one flat parameter vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// One image or activation without the batch dimension.
struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;

  std::size_t count() const;
  bool operator==(const Shape&) const = default;
};

enum class LayerKind { convolution, max_pool, relu, linear };

// What a layer is, before it knows its input. `outputs`: channels or neurons.
struct Layer {
  LayerKind kind;
  int outputs = 0;
  int kernel = 0;
  int padding = 0;
};

Layer convolution(int outputs, int kernel, int padding = 0);
Layer max_pool(int kernel);
Layer relu();
Layer linear(int outputs);

// A layer with its shapes and its ranges in the flat vector: weights as outputs x inputs x h x w, then bias.
struct PlannedLayer {
  Layer layer;
  std::string name;
  Shape input;
  Shape output;
  std::size_t weights_offset = 0;
  std::size_t weights_count = 0;
  std::size_t bias_offset = 0;
  std::size_t bias_count = 0;

  std::size_t fan_in() const { return bias_count == 0 ? 0 : weights_count / bias_count; }
};

struct Net {
  std::string name;
  Shape input;
  int classes = 0;
  std::size_t parameter_count = 0;
  std::vector<PlannedLayer> layers;
};

// Throws Error(request) if a kernel does not fit its input or the vector outgrows one MPI message.
Net plan_net(std::string name, Shape input, std::span<const Layer> layers);

// The nets that --net knows.
std::vector<std::string> net_names();
// Throws Error(usage) for an unknown name, Error(request) if the images do not fit the net.
Net build_net(std::string_view name, Shape input, int classes);

// He-uniform weights, small ones in the last layer, zero biases: the same floats on every machine for the
// same seed.
std::vector<float> initial_parameters(const Net& net, std::uint64_t seed);

}  // namespace ddlrun::runtime
