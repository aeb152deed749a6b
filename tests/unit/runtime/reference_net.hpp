// SPDX-License-Identifier: MIT
// A net in plain loops and doubles, written from the layers' definitions only: what the engine is compared
// with.
#pragma once

#include "runtime/net.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace ddlrun::runtime::reference {

using Values = std::vector<double>;

inline std::size_t at(const Shape& s, int c, int y, int x) {
  return static_cast<std::size_t>((c * s.height + y) * s.width + x);
}

inline Values convolution(const PlannedLayer& p, const Values& in, std::span<const double> parameters) {
  const int k = p.layer.kernel;
  Values out(p.output.count());
  for (int o = 0; o < p.output.channels; ++o) {
    for (int y = 0; y < p.output.height; ++y) {
      for (int x = 0; x < p.output.width; ++x) {
        double sum = parameters[p.bias_offset + static_cast<std::size_t>(o)];
        for (int i = 0; i < p.input.channels; ++i) {
          for (int dy = 0; dy < k; ++dy) {
            for (int dx = 0; dx < k; ++dx) {
              const int sy = y + dy - p.layer.padding;
              const int sx = x + dx - p.layer.padding;
              if (sy < 0 || sx < 0 || sy >= p.input.height || sx >= p.input.width) continue;
              const auto w = static_cast<std::size_t>(((o * p.input.channels + i) * k + dy) * k + dx);
              sum += parameters[p.weights_offset + w] * in[at(p.input, i, sy, sx)];
            }
          }
        }
        out[at(p.output, o, y, x)] = sum;
      }
    }
  }
  return out;
}

inline Values max_pool(const PlannedLayer& p, const Values& in) {
  const int k = p.layer.kernel;
  Values out(p.output.count(), -1e300);
  for (int c = 0; c < p.output.channels; ++c) {
    for (int y = 0; y < p.output.height * k; ++y) {
      for (int x = 0; x < p.output.width * k; ++x) {
        double& best = out[at(p.output, c, y / k, x / k)];
        best = std::max(best, in[at(p.input, c, y, x)]);
      }
    }
  }
  return out;
}

inline Values linear(const PlannedLayer& p, const Values& in, std::span<const double> parameters) {
  Values out(p.output.count());
  for (std::size_t o = 0; o < out.size(); ++o) {
    out[o] = parameters[p.bias_offset + o];
    for (std::size_t i = 0; i < in.size(); ++i)
      out[o] += parameters[p.weights_offset + o * in.size() + i] * in[i];
  }
  return out;
}

inline Values forward(const Net& net, Values x, std::span<const double> parameters) {
  for (const PlannedLayer& p : net.layers) {
    switch (p.layer.kind) {
      case LayerKind::convolution:
        x = convolution(p, x, parameters);
        break;
      case LayerKind::max_pool:
        x = max_pool(p, x);
        break;
      case LayerKind::linear:
        x = linear(p, x, parameters);
        break;
      case LayerKind::relu:
        for (double& v : x) v = std::max(v, 0.0);
        break;
    }
  }
  return x;
}

// The loss summed over the images.
inline double loss(const Net& net, std::span<const float> images, std::span<const std::uint8_t> labels,
                   std::span<const double> parameters) {
  double total = 0.0;
  const std::size_t size = net.input.count();
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const auto image = images.subspan(n * size, size);
    const Values z = forward(net, Values(image.begin(), image.end()), parameters);
    double sum = 0.0;
    for (const double v : z) sum += std::exp(v);
    total += std::log(sum) - z[labels[n]];
  }
  return total;
}

}  // namespace ddlrun::runtime::reference
