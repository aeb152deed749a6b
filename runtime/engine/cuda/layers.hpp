// SPDX-License-Identifier: MIT
// How each kind of layer runs on a GPU: forward and backward as calls that join the device's stream. Values
// lie in plain layout: batch x channels x height x width.
#pragma once

#include "runtime/engine/cuda/device.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/models/net.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace ddlrun::runtime::gpu {

// The net's flat vectors on the device.
struct DeviceVectors {
  float* parameters = nullptr;
  float* gradients = nullptr;  // null: inference only
  float* state = nullptr;
};

struct LayerPlace {
  const PlannedLayer& planned;
  std::size_t index = 0;  // in Net::layers
  std::size_t batch = 0;
  bool training = false;
  DeviceVectors vectors;
  const Device& device;
};

using Inputs = std::span<const float* const>;
using InputGradients = std::span<float* const>;  // null: not wanted; the rest is overwritten

class GpuLayer {
 public:
  virtual ~GpuLayer() = default;
  virtual void forward(Inputs inputs, float* output, const StepKey& key) = 0;
  // Also writes the gradients of the layer's own weights. `inputs` and `output` are only valid where needed.
  virtual void backward(Inputs inputs, const float* output, const float* gradient,
                        InputGradients input_gradients, const StepKey& key) = 0;
  // What backward() reads again.
  virtual bool needs_inputs() const { return false; }
  virtual bool needs_output() const { return false; }
};

std::unique_ptr<GpuLayer> make_convolution(const LayerPlace& place);
std::unique_ptr<GpuLayer> make_inner_product(const LayerPlace& place);
std::unique_ptr<GpuLayer> make_batch_norm(const LayerPlace& place);
std::unique_ptr<GpuLayer> make_pooling(const LayerPlace& place);
// ReLU, dropout, LRN, sum, concat.
std::unique_ptr<GpuLayer> make_simple(const LayerPlace& place);

std::unique_ptr<GpuLayer> make_layer(const LayerPlace& place);

}  // namespace ddlrun::runtime::gpu
