// SPDX-License-Identifier: MIT
// Interface of an engine, which computes a net on one device. The trainer owns the flat vectors of parameters
// and gradients; an engine reads and writes them, with the layout of Net::parameters. Images are float32 in
// NCHW order, [batch, C, H, W] with the net's input shape; labels are [batch]. Calls come from one thread.
// Errors of a device (out of memory, a failed kernel) are thrown as Error(request).
#pragma once

#include "runtime/engine/layer_trace.hpp"
#include "runtime/engine/loss.hpp"
#include "runtime/models/net.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ddlrun::runtime {

// Callback: the gradients of parameters [from, end) are final. `from` decreases from call to call within one
// train_batch() and is 0 in the last one.
using GradientsFinal = std::function<void(std::size_t from)>;
// Callback: a layer is about to read parameters [begin, end) in a forward pass. Parameters that are not
// reported are not read in that pass, and none is read before its callback returns.
using ParametersNeeded = std::function<void(std::size_t begin, std::size_t end)>;

// Seed of the dropout masks: equal keys give equal masks. Nothing else depends on it.
struct StepKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t rank = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Sets the key of the next train_batch().
  virtual void start_step(const StepKey& key) { (void)key; }
  // The state of the layers, [net.state_count], initialized as initial_state(): running means and variances.
  // train_batch() updates it, evaluate() reads it. It differs between ranks until the trainer averages it.
  virtual std::span<float> state() { return {}; }

  // Sets the callback for all following train_batch() calls, on the calling thread. An engine without support
  // never calls it.
  virtual void on_gradients_final(GradientsFinal callback) { (void)callback; }
  // Sets the callback for the forward passes of train_batch() and evaluate(). Returns false if the engine
  // does not support it: then all parameters must be valid before a call. An exception of the callback ends
  // the pass and is passed on.
  virtual bool on_parameters_needed(ParametersNeeded callback) {
    (void)callback;
    return false;
  }
  // Emits a span for each layer from now on. `trace` must outlive the engine.
  virtual void trace(const LayerTrace* trace) { (void)trace; }

  // Forward and backward pass over `images` [batch, C, H, W] and `labels` [batch], with exactly the batch
  // size of the factory. Overwrites the gradients with those of scale * (sum of the losses). Returns the sum
  // of the losses (not the mean) and the number of correct predictions.
  virtual LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) = 0;
  // Forward pass over n images [n, C, H, W] and labels [n], 1 <= n <= evaluation_batch(). Changes nothing.
  // Returns the sum of the losses and the number of correct predictions.
  virtual LossSum evaluate(std::span<const float> images, std::span<const Label> labels) = 0;
  // Forward pass as evaluate(): one value for each class of each image, [n, classes], before softmax. Empty
  // where the engine does not support it.
  virtual std::vector<float> predict(std::span<const float> images, std::size_t count) {
    (void)images;
    (void)count;
    return {};
  }
  // The largest number of images of one evaluate() call.
  virtual std::size_t evaluation_batch() const = 0;
};

// Creates an engine for a batch of `batch` images. `parameters` and `gradients` are [net.parameter_count] and
// must outlive the engine; empty gradients: for evaluation only. Throws Error(request) if the device cannot
// run the net.
using EngineFactory = std::function<std::unique_ptr<Engine>(
    const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients)>;

}  // namespace ddlrun::runtime
