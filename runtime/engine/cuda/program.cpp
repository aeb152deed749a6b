// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/program.hpp"

#include "runtime/engine/cuda/kernels.hpp"

#include <algorithm>

namespace ddlrun::runtime::gpu {
namespace {

std::size_t most_inputs(const Net& net) {
  std::size_t most = 1;
  for (const PlannedLayer& planned : net.layers) most = std::max(most, planned.sources.size());
  return most;
}

}  // namespace

Program::Program(const Net& net, std::size_t batch, DeviceVectors vectors, const Device& device,
                 std::size_t largest_kept)
    : net_(net),
      batch_(batch),
      training_(vectors.gradients != nullptr),
      device_(device),
      images_(batch * net.input.count()),
      values_(device, 2 * net.layers.size() + most_inputs(net), largest_kept) {
  for (std::size_t i = 0; i < net.layers.size(); ++i)
    layers_.push_back(make_layer({net.layers[i], i, batch, training_, vectors, device}));
  plan_uses();
}

void Program::plan_uses() {
  uses_.resize(layers_.size());
  arrived_.resize(layers_.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Use& own = uses_[i];
    own.last_reader = i;
    const auto reads_back = [](Use& use, std::size_t reader) {
      if (!use.on_way_back) use = {use.last_reader, true, reader, reader};
      use.first_back = std::max(use.first_back, reader);
      use.last_back = std::min(use.last_back, reader);
    };
    if (training_ && layers_[i]->needs_output()) reads_back(own, i);
    for (const std::size_t source : net_.layers[i].sources) {
      if (source == from_images) continue;
      uses_[source].last_reader = i;
      if (training_ && layers_[i]->needs_inputs()) reads_back(uses_[source], i);
    }
  }
  uses_.back().last_reader = layers_.size();  // the logits are read by the loss
}

std::vector<const float*> Program::inputs_of(std::size_t layer, bool needed) {
  std::vector<const float*> inputs;
  for (const std::size_t source : net_.layers[layer].sources)
    inputs.push_back(!needed ? nullptr : source == from_images ? images_.data() : values_.at(source));
  return inputs;
}

const float* Program::forward(const StepKey& key) {
  values_.drop(layers_.size() - 1);  // the logits of the call before, if nothing went back
  float* output = nullptr;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const std::vector<const float*> inputs = inputs_of(i, true);
    output = values_.make(i, batch_ * net_.layers[i].output.count());
    layers_[i]->forward(inputs, output, key);
    send_or_drop_after(i);
  }
  return output;
}

// The values whose last reader in the forward pass is layer i.
void Program::send_or_drop_after(std::size_t i) {
  for (std::size_t value = 0; value <= i; ++value) {
    if (uses_[value].last_reader != i) continue;
    if (uses_[value].on_way_back) {
      values_.send(value);
    } else {
      values_.drop(value);
    }
  }
}

void Program::backward(const float* logit_gradient, const StepKey& key,
                       const std::function<void(const PlannedLayer&)>& done) {
  std::fill(arrived_.begin(), arrived_.end(), 0);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    // One layer ahead, so that values come back while this one is at work.
    for (std::size_t value = 0; i > 0 && value < i; ++value) {
      if (uses_[value].on_way_back && uses_[value].first_back == i - 1) values_.fetch(value);
    }
    const bool last = i + 1 == layers_.size();
    if (last || arrived_[i] > 0) backward_layer(i, last ? logit_gradient : values_.at(gradient_of(i)), key);
    values_.drop(gradient_of(i));
    for (std::size_t value = 0; value <= i; ++value) {
      if (uses_[value].on_way_back && uses_[value].last_back == i) values_.drop(value);
    }
    if (done && net_.layers[i].weights_count + net_.layers[i].bias_count > 0) done(net_.layers[i]);
  }
  values_.drop(layers_.size() - 1);
}

// The first gradient of a value is written, others are added in the order of the backward pass.
void Program::backward_layer(std::size_t i, const float* gradient, const StepKey& key) {
  const std::vector<std::size_t>& sources = net_.layers[i].sources;
  std::vector<float*> wanted;
  std::vector<std::size_t> numbers;  // of the values behind `wanted`
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (sources[k] == from_images) {
      wanted.push_back(nullptr);
      numbers.push_back(0);
      continue;
    }
    const bool is_first = arrived_[sources[k]]++ == 0;
    numbers.push_back(is_first ? gradient_of(sources[k]) : 2 * layers_.size() + k);
    wanted.push_back(values_.make(numbers.back(), batch_ * net_.layers[i].inputs[k].count()));
  }
  const float* output = layers_[i]->needs_output() ? values_.at(i) : nullptr;
  layers_[i]->backward(inputs_of(i, layers_[i]->needs_inputs()), output, gradient, wanted, key);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    if (wanted[k] == nullptr || numbers[k] < 2 * layers_.size()) continue;
    add(values_.at(gradient_of(sources[k])), wanted[k], batch_ * net_.layers[i].inputs[k].count(),
        device_.stream());
    values_.drop(numbers[k]);
  }
}

}  // namespace ddlrun::runtime::gpu
