// SPDX-License-Identifier: MIT
// Softmax cross-entropy, the one loss of the trainer. Plain C++, the same for every engine.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <span>

namespace ddlrun::runtime {

struct LossSum {
  double loss = 0.0;  // summed over the images, not averaged
  std::size_t correct = 0;
};

// `logits`: one row of `classes` per label. If `gradients` is not empty, it receives
// scale * (softmax(logits) - one_hot(label)). A non-finite row gives a NaN loss and counts as wrong.
LossSum softmax_cross_entropy(std::span<const float> logits, std::span<const Label> labels,
                              std::size_t classes, float scale, std::span<float> gradients);

}  // namespace ddlrun::runtime
