// SPDX-License-Identifier: MIT
// A net compiled for one batch size: two lists of oneDNN primitives, forward and backward, run in order.
#pragma once

#include "runtime/cpu_describe.hpp"
#include "runtime/net.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <span>
#include <unordered_map>
#include <vector>

namespace ddlrun::runtime::cpu {

// One primitive with its memories.
struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
};
using Steps = std::vector<Step>;

struct Program {
  Steps forward;
  Steps backward;  // empty for inference
  dnnl::memory input;
  dnnl::memory logits;           // plain rows
  dnnl::memory logits_gradient;  // plain rows
};

// `gradients` empty: inference only.
Program compile(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients,
                const dnnl::engine& engine);

void run_steps(const Steps& steps, dnnl::stream& stream);

}  // namespace ddlrun::runtime::cpu
