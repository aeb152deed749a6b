// SPDX-License-Identifier: MIT
// Stochastic gradient descent on flat vectors.
#pragma once

#include <span>

namespace ddlrun::runtime {

struct SgdRule {
  float momentum = 0.9F;
  float weight_decay = 0.0F;
};

// velocity = momentum*velocity + gradient + weight_decay*parameter; parameter -= lr*velocity.
void sgd_step(const SgdRule& rule, float lr, std::span<float> parameters, std::span<const float> gradients,
              std::span<float> velocity);

}  // namespace ddlrun::runtime
