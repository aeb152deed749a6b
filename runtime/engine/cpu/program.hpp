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

// A oneDNN primitive with its memories, or a function of ours and the memories that it uses.
struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
  std::function<void()> own;
};
using Steps = std::vector<Step>;

// Index behind the last step of a layer; layers in execution order.
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
  std::shared_ptr<StepKey> key;      // of the next step
  std::shared_ptr<std::byte> arena;  // holds activations and their gradients
  std::size_t arena_bytes = 0;
};

Program compile(const Net& net, std::size_t batch, const FlatVectors& flat, const dnnl::engine& engine);

void run_steps(std::span<const Step> steps, dnnl::stream& stream);
// The same, with callbacks before and after each layer.
using LayerCallback = std::function<void(std::size_t layer)>;
void run_layers(const Steps& steps, const LayerEnds& ends, dnnl::stream& stream, const LayerCallback& before,
                const LayerCallback& after);

}  // namespace ddlrun::runtime::cpu
