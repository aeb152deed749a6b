// SPDX-License-Identifier: MIT
// First values of parameters and state.
#include "runtime/core/random.hpp"
#include "runtime/models/net.hpp"

#include <algorithm>
#include <cmath>

namespace ddlrun::runtime {
namespace {

// Marsaglia's polar method: one normal value, the other is not kept.
double draw_normal(Random& random) {
  for (;;) {
    const double x = 2.0 * random.uniform() - 1.0;
    const double y = 2.0 * random.uniform() - 1.0;
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) return x * std::sqrt(-2.0 * std::log(square) / square);
  }
}

void fill_values(const Filler& filler, double fan_in, Random random, std::span<float> values) {
  const auto uniform = [&](double low, double high) {
    for (float& value : values) value = static_cast<float>(low + (high - low) * random.uniform());
  };
  const auto normal = [&](double mean, double deviation) {
    for (float& value : values) value = static_cast<float>(mean + deviation * draw_normal(random));
  };
  switch (filler.kind) {
    case Filler::Kind::standard:
      break;
    case Filler::Kind::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(filler.a));
      break;
    case Filler::Kind::uniform:
      uniform(filler.a, filler.b);
      break;
    case Filler::Kind::gaussian:
      normal(filler.a, filler.b);
      break;
    case Filler::Kind::xavier:
      uniform(-std::sqrt(3.0 / fan_in), std::sqrt(3.0 / fan_in));
      break;
    case Filler::Kind::msra:
      normal(0.0, std::sqrt(2.0 / fan_in));
      break;
  }
}

// A tenth of LeCun's limit for the last layer: the first loss is then about log(classes), a calm start.
void fill_standard(double fan_in, bool is_last, Random random, std::span<float> values) {
  const double limit = std::sqrt((is_last ? 0.03 : 6.0) / fan_in);
  for (float& value : values) value = static_cast<float>((2.0 * random.uniform() - 1.0) * limit);
}

}  // namespace

std::vector<float> initial_parameters(const Net& net, std::uint64_t seed) {
  std::vector<float> parameters(net.parameter_count, 0.0F);
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    const PlannedLayer& planned = net.layers[i];
    if (planned.weights_count == 0) continue;
    const auto weights = std::span(parameters).subspan(planned.weights_offset, planned.weights_count);
    const auto fan_in = static_cast<double>(planned.fan_in());
    const Filler& filler = planned.layer.weight_spec.filler;
    const Random random(mix_seed(seed, i));
    if (filler.kind != Filler::Kind::standard) {
      fill_values(filler, fan_in, random, weights);
    } else if (planned.layer.kind == LayerKind::batch_norm) {
      std::fill(weights.begin(), weights.end(), 1.0F);
    } else {
      fill_standard(fan_in, i + 1 == net.layers.size(), random, weights);
    }
    fill_values(planned.layer.bias_spec.filler, fan_in, Random(mix_seed(seed, net.layers.size() + i)),
                std::span(parameters).subspan(planned.bias_offset, planned.bias_count));
  }
  return parameters;
}

std::vector<float> initial_state(const Net& net) {
  std::vector<float> state(net.state_count, 0.0F);
  for (const PlannedLayer& planned : net.layers) {
    const auto values = std::span(state).subspan(planned.state_offset, planned.state_count);
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end(), 1.0F);
  }
  return state;
}

}  // namespace ddlrun::runtime
