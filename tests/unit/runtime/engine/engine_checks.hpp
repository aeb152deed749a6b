// SPDX-License-Identifier: MIT
// The CPU engine beside the reference net: samples, parameters, and all gradients against finite differences.
#pragma once

#include "runtime/core/random.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "tests/unit/runtime/engine/reference_net.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct Sample {
  std::vector<float> images;
  std::vector<Label> labels;
};

inline Sample make_sample(const Net& net, std::size_t count) {
  Random random(5);
  Sample sample;
  for (std::size_t i = 0; i < count * net.input.count(); ++i) {
    sample.images.push_back(static_cast<float>(2.0 * random.uniform() - 1.0));
  }
  for (std::size_t i = 0; i < count; ++i) {
    sample.labels.push_back(static_cast<Label>(random.below(static_cast<std::uint64_t>(net.classes))));
  }
  return sample;
}

// Random weights and biases, so that no gradient is zero by construction.
inline std::vector<float> make_parameters(const Net& net) {
  std::vector<float> parameters = initial_parameters(net, 11);
  Random random(12);
  for (float& value : parameters) value += static_cast<float>(0.2 * random.uniform() - 0.1);
  return parameters;
}

// Compares up to `most` evenly spread partial derivatives with central differences in doubles, and the loss.
inline void check_gradients(const Net& net, std::size_t batch, std::size_t most = 400) {
  std::vector<float> parameters = make_parameters(net);
  std::vector<float> gradients(parameters.size(), -1.0F);
  const Sample sample = make_sample(net, batch);
  const auto engine = make_cpu_engine(net, batch, parameters, gradients);
  const StepKey key{3, 14, 1};
  engine->start_step(key);
  const auto scale = static_cast<float>(1.0 / static_cast<double>(batch));
  const LossSum total = engine->train_batch(sample.images, sample.labels, scale);
  std::vector<double> exact(parameters.begin(), parameters.end());
  const auto loss = [&] {
    return reference::loss(net, sample.images, sample.labels, {exact, {}, key, true});
  };
  CAPTURE(net.name);
  CHECK(total.loss == doctest::Approx(loss()).epsilon(1e-5));
  const std::size_t stride = parameters.size() / most + 1;
  constexpr double probe = 1e-6;
  double largest = 0.0;
  for (std::size_t i = 0; i < parameters.size(); i += stride) {
    const double here = exact[i];
    exact[i] = here + probe;
    const double above = loss();
    exact[i] = here - probe;
    const double below = loss();
    exact[i] = here;
    const double expected = (above - below) / (2.0 * probe) / static_cast<double>(batch);
    largest = std::max(largest, std::abs(expected));
    CHECK_MESSAGE(std::abs(gradients[i] - expected) < 2e-5 + 1e-3 * std::abs(expected), net.name,
                  " parameter ", i, ": ", gradients[i], " instead of ", expected);
  }
  CHECK(largest > 1e-4);  // so that the comparison says something
}

inline Net make_net(const char* name, Shape input, std::vector<Layer> layers) {
  return plan_net(name, input, layers);
}

}  // namespace ddlrun::runtime
