// SPDX-License-Identifier: MIT
// Networks as values: a graph of named layers, planned into shapes and named tensors of two flat vectors:
// trainable parameters, and state that is only updated (running means of batch norm).
#pragma once

#include "runtime/models/layer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Position of a tensor in a flat vector: "conv1.weight", {20, 1, 5, 5}.
struct NamedTensor {
  std::string name;
  std::vector<int> dims;
  std::size_t offset = 0;
  std::size_t count = 0;
  double lr_factor = 1.0;     // of the learning rate; state: unused
  double decay_factor = 1.0;  // of the weight decay; state: unused
};

constexpr std::size_t from_images = SIZE_MAX;

// A layer with its shapes and its ranges in the flat vectors: weights as outputs x inputs/groups x h x w,
// then bias; state as running means, then running variances.
struct PlannedLayer {
  Layer layer;
  std::string name;
  std::vector<std::size_t> sources;  // earlier layers, or from_images; at least one
  std::vector<Shape> inputs;         // their shapes
  Shape input;                       // the first of them
  Shape output;
  std::size_t weights_offset = 0;
  std::size_t weights_count = 0;
  std::size_t bias_offset = 0;
  std::size_t bias_count = 0;
  std::size_t state_offset = 0;
  std::size_t state_count = 0;

  // Number of inputs of one output.
  std::size_t fan_in() const;
};

struct Net {
  std::string name;
  Shape input;
  int classes = 0;  // outputs of the last layer
  std::size_t parameter_count = 0;
  std::size_t state_count = 0;
  std::vector<PlannedLayer> layers;     // each after its sources; the last one gives the logits
  std::vector<NamedTensor> parameters;  // LAYER.weight, LAYER.bias: in order and without gaps
  std::vector<NamedTensor> state;       // LAYER.running_mean, LAYER.running_var: in order and without gaps
};

// A key of our YAML files and its name in another format: "kernel:", "kernel_size:".
struct NetWord {
  std::string_view ours;
  std::string_view theirs;
};

// A net before the shape of the images is known.
struct NetDescription {
  std::string name;
  std::string location;       // for messages: "--net lenet5", "net.yaml"
  std::vector<Shape> images;  // accepted shapes; empty: any that fits
  Shape border = {0, 0, 0};   // smaller images are padded with zeros to this size; 0: no padding
  std::vector<Layer> layers;  // in any order; a softmax_loss names the logits, else the last layer has them
  std::span<const NetWord> words;  // of its file format, if not YAML: hints use these names
};

// Throws Error(request) with all errors: a duplicate name, an unknown input, a cycle, incompatible shapes,
// an unread output, a vector larger than one MPI message, fewer outputs than classes, no parameters.
Net plan_net(const NetDescription& description, Shape input, int classes);
// The same for a chain of layers.
Net plan_net(std::string name, Shape input, std::span<const Layer> layers);

// Names of the built-in nets, and one of them. Throws Error(usage) for an unknown name, Error(request) if the
// images do not fit the net.
std::vector<std::string> net_names();
Net build_net(std::string_view name, Shape input, int classes);

// Products of weights and values in the forward pass of one image.
double count_products(const Net& net);

// Initial values by the fillers of the layers; by default He-uniform weights, small ones in the last layer,
// zero biases. The same floats on every machine for the same seed.
std::vector<float> initial_parameters(const Net& net, std::uint64_t seed);
// Means of 0, variances of 1.
std::vector<float> initial_state(const Net& net);

// Equal for equal layers, shapes and tensor names; ranks and checkpoints compare it.
std::uint64_t fingerprint(const Net& net);

}  // namespace ddlrun::runtime
