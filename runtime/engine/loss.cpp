// SPDX-License-Identifier: MIT
#include "runtime/engine/loss.hpp"

#include <algorithm>
#include <cmath>

namespace ddlrun::runtime {

LossSum softmax_cross_entropy(std::span<const float> logits, std::span<const Label> labels,
                              std::size_t classes, float scale, std::span<float> gradients) {
  LossSum result;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const std::span<const float> z = logits.subspan(row * classes, classes);
    const auto best = std::max_element(z.begin(), z.end());
    double sum = 0.0;
    for (const float value : z) sum += std::exp(static_cast<double>(value) - static_cast<double>(*best));
    const double loss = std::log(sum) - (static_cast<double>(z[labels[row]]) - static_cast<double>(*best));
    result.loss += loss;
    if (std::isfinite(loss) && best - z.begin() == labels[row]) ++result.correct;
    if (gradients.empty()) continue;
    const std::span<float> g = gradients.subspan(row * classes, classes);
    for (std::size_t k = 0; k < classes; ++k) {
      const double p = std::exp(static_cast<double>(z[k]) - static_cast<double>(*best)) / sum;
      g[k] = scale * static_cast<float>(p - (k == labels[row] ? 1.0 : 0.0));
    }
  }
  return result;
}

}  // namespace ddlrun::runtime
