// SPDX-License-Identifier: MIT
#include "runtime/sgd.hpp"

#include <cstddef>

namespace ddlrun::runtime {

void sgd_step(const SgdRule& rule, float lr, std::span<float> parameters, std::span<const float> gradients,
              std::span<float> velocity) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    velocity[i] = rule.momentum * velocity[i] + gradients[i] + rule.weight_decay * parameters[i];
    parameters[i] -= lr * velocity[i];
  }
}

}  // namespace ddlrun::runtime
