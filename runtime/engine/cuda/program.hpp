// SPDX-License-Identifier: MIT
// A net on a GPU for one batch size: its layers, and when each value is made, sent away, fetched and dropped.
#pragma once

#include "runtime/engine/cuda/activations.hpp"
#include "runtime/engine/cuda/layers.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace ddlrun::runtime::gpu {

class Program {
 public:
  // `vectors.gradients` null: inference only.
  Program(const Net& net, std::size_t batch, DeviceVectors vectors, const Device& device,
          std::size_t largest_kept);

  float* images() const { return images_.data(); }
  std::size_t batch() const { return batch_; }
  // The logits: valid until backward(), or the next forward().
  const float* forward(const StepKey& key);
  // `logit_gradient`: overwritten memory of forward()'s size. `done` is called for each layer whose weights'
  // gradients the stream has made, the last layer first.
  void backward(const float* logit_gradient, const StepKey& key,
                const std::function<void(const PlannedLayer&)>& done = {});

 private:
  // Of a layer's output: who reads it last on each way. By layers' numbers.
  struct Use {
    std::size_t last_reader = 0;  // in the forward pass; its own layer if no layer reads it
    bool on_way_back = false;     // some layer's backward() reads it
    std::size_t first_back = 0;   // the first of them to come, that is the last layer
    std::size_t last_back = 0;
  };

  void plan_uses();
  std::vector<const float*> inputs_of(std::size_t layer, bool needed);
  void send_or_drop_after(std::size_t layer);
  void backward_layer(std::size_t layer, const float* gradient, const StepKey& key);
  std::size_t gradient_of(std::size_t layer) const { return net_.layers.size() + layer; }

  const Net& net_;
  std::size_t batch_;
  bool training_;
  const Device& device_;
  DeviceArray<float> images_;
  std::vector<std::unique_ptr<GpuLayer>> layers_;
  std::vector<Use> uses_;
  std::vector<std::size_t> arrived_;  // gradients so far, of each layer's output
  Values values_;  // outputs, then their gradients, then what is added to one that has arrived
};

}  // namespace ddlrun::runtime::gpu
