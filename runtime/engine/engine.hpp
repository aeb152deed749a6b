// SPDX-License-Identifier: MIT
// What computes a net. The trainer owns the flat vectors; an engine reads parameters and writes gradients
// there.
#pragma once

#include "runtime/engine/layer_trace.hpp"
#include "runtime/engine/loss.hpp"
#include "runtime/models/net.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace ddlrun::runtime {

// Hears during train_batch() that the gradients of parameters [from, end) will not change any more; `from`
// falls from call to call, and is 0 in the last one.
using GradientsFinal = std::function<void(std::size_t from)>;
// Hears during a forward pass, before a layer reads its parameters [begin, end). Those that are not told of
// are not read in that pass, and none before its turn.
using ParametersNeeded = std::function<void(std::size_t begin, std::size_t end)>;

// Decides dropout's masks, and nothing else: the same key, the same masks.
struct StepKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t rank = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // For the next train_batch().
  virtual void start_step(const StepKey& key) { (void)key; }
  // net.state_count floats, made as initial_state(): training changes them, evaluation reads them. They
  // differ between ranks until the trainer averages them.
  virtual std::span<float> state() { return {}; }

  // Tells during each train_batch() from now on, on the calling thread; an engine that cannot, does not.
  virtual void on_gradients_final(GradientsFinal tell) { (void)tell; }
  // The same for the forward passes, of training and of evaluation. False: this engine cannot, and what it
  // reads must be there before it is called. What `tell` throws ends the pass.
  virtual bool on_parameters_needed(ParametersNeeded tell) {
    (void)tell;
    return false;
  }
  // Spans for each layer from now on; nothing to end it. What it points to outlives the engine.
  virtual void trace(const LayerTrace* trace) { (void)trace; }

  // Forward and backward over exactly the batch the engine was made for, as floats one after the other.
  // Overwrites the gradients with the gradient of scale * sum of losses.
  virtual LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) = 0;
  // Forward only, for 1 to evaluation_batch() images.
  virtual LossSum evaluate(std::span<const float> images, std::span<const Label> labels) = 0;
  virtual std::size_t evaluation_batch() const = 0;
};

// The spans must outlive the engine and have net.parameter_count elements each.
using EngineFactory = std::function<std::unique_ptr<Engine>(
    const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients)>;

}  // namespace ddlrun::runtime
