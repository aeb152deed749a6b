// SPDX-License-Identifier: MIT
// A net compiled for one batch size: two lists of steps, forward and backward, run in order.
#pragma once

#include "runtime/engine/cpu/describe.hpp"
#include "runtime/engine/engine.hpp"
#include "runtime/models/net.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace ddlrun::runtime::cpu {

// One primitive with its memories, or our own code, which then only lists the memories that it uses.
struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  std::function<void()> own;
};
using Steps = std::vector<Step>;

// The steps of a layer end before this one; layers in the order in which they run.
struct LayerEnd {
  std::size_t layer = 0;
  std::size_t end = 0;
};
using LayerEnds = std::vector<LayerEnd>;

// The caller's flat vectors; `gradients` empty: inference only.
struct FlatVectors {
  std::span<float> parameters;
  std::span<float> gradients;
  std::span<float> state;
};

struct Program {
  Steps forward;
  Steps backward;  // empty for inference
  LayerEnds forward_ends;
  LayerEnds backward_ends;
  dnnl::memory input;
  dnnl::memory logits;               // plain rows
  dnnl::memory logits_gradient;      // plain rows
  std::shared_ptr<StepKey> key;      // of the step to come
  std::shared_ptr<std::byte> arena;  // where the activations and their gradients lie, in turn
  std::size_t arena_bytes = 0;
};

Program compile(const Net& net, std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine);

void run_steps(std::span<const Step> steps, dnnl::stream& stream);
// The same, and tells before and after each layer: that it begins, that its results are there.
using LayerCallback = std::function<void(std::size_t layer)>;
void run_layers(const Steps& steps, const LayerEnds& ends, dnnl::stream& stream, const LayerCallback& before,
                const LayerCallback& after);

}  // namespace ddlrun::runtime::cpu
