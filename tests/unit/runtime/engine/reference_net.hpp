// SPDX-License-Identifier: MIT
// A net in plain loops and doubles, written from the layers' definitions only: what the engine is compared
// with. Values of a whole batch lie one image after the other.
#pragma once

#include "runtime/engine/dropout.hpp"
#include "runtime/models/net.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace ddlrun::runtime::reference {

using Values = std::vector<double>;

// What a net computes with besides the images.
struct Setting {
  std::span<const double> parameters;
  std::span<const double> state;  // for evaluation
  StepKey key;
  bool training = true;
};

inline std::size_t at(const Shape& s, int n, int c, int y, int x) {
  return static_cast<std::size_t>(((n * s.channels + c) * s.height + y) * s.width + x);
}

template <class Each>
void for_each_value(const Shape& s, std::size_t batch, Each each) {
  for (int n = 0; n < static_cast<int>(batch); ++n) {
    for (int c = 0; c < s.channels; ++c) {
      for (int y = 0; y < s.height; ++y) {
        for (int x = 0; x < s.width; ++x) each(n, c, y, x);
      }
    }
  }
}

inline Values convolution(const PlannedLayer& p, const Values& in, std::size_t batch, const Setting& with) {
  const Layer& l = p.layer;
  const int group_in = p.input.channels / l.groups;
  const int group_out = p.output.channels / l.groups;
  Values out(batch * p.output.count());
  for_each_value(p.output, batch, [&](int n, int o, int y, int x) {
    double total = p.bias_count == 0 ? 0.0 : with.parameters[p.bias_offset + static_cast<std::size_t>(o)];
    for (int i = 0; i < group_in; ++i) {
      for (int dy = 0; dy < l.kernel.height; ++dy) {
        for (int dx = 0; dx < l.kernel.width; ++dx) {
          const int sy = y * l.stride.height + dy * l.dilation.height - l.padding.height;
          const int sx = x * l.stride.width + dx * l.dilation.width - l.padding.width;
          if (sy < 0 || sx < 0 || sy >= p.input.height || sx >= p.input.width) continue;
          const auto w =
              static_cast<std::size_t>(((o * group_in + i) * l.kernel.height + dy) * l.kernel.width + dx);
          total += with.parameters[p.weights_offset + w] *
                   in[at(p.input, n, o / group_out * group_in + i, sy, sx)];
        }
      }
    }
    out[at(p.output, n, o, y, x)] = total;
  });
  return out;
}

// Caffe's rule for averages: padding counts as zeros, what lies beyond the padding does not count.
inline Values pooling(const PlannedLayer& p, const Values& in, std::size_t batch) {
  const Layer& l = p.layer;
  Values out(batch * p.output.count());
  for_each_value(p.output, batch, [&](int n, int c, int y, int x) {
    double best = -1e300;
    double total = 0.0;
    int counted = 0;
    for (int sy = y * l.stride.height - l.padding.height;
         sy < y * l.stride.height - l.padding.height + l.kernel.height; ++sy) {
      for (int sx = x * l.stride.width - l.padding.width;
           sx < x * l.stride.width - l.padding.width + l.kernel.width; ++sx) {
        if (sy >= p.input.height + l.padding.height || sx >= p.input.width + l.padding.width) continue;
        ++counted;
        if (sy < 0 || sx < 0 || sy >= p.input.height || sx >= p.input.width) continue;
        best = std::max(best, in[at(p.input, n, c, sy, sx)]);
        total += in[at(p.input, n, c, sy, sx)];
      }
    }
    out[at(p.output, n, c, y, x)] = l.method == PoolMethod::max ? best : total / counted;
  });
  return out;
}

inline Values inner_product(const PlannedLayer& p, const Values& in, std::size_t batch, const Setting& with) {
  const std::size_t outputs = p.output.count();
  const std::size_t inputs = p.input.count();
  Values out(batch * outputs);
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double total = p.bias_count == 0 ? 0.0 : with.parameters[p.bias_offset + o];
      for (std::size_t i = 0; i < inputs; ++i)
        total += with.parameters[p.weights_offset + o * inputs + i] * in[n * inputs + i];
      out[n * outputs + o] = total;
    }
  }
  return out;
}

inline Values lrn(const PlannedLayer& p, const Values& in, std::size_t batch) {
  const Layer& l = p.layer;
  Values out(in.size());
  for_each_value(p.output, batch, [&](int n, int c, int y, int x) {
    double squares = 0.0;
    for (int k = std::max(0, c - l.size / 2); k <= std::min(p.input.channels - 1, c + l.size / 2); ++k)
      squares += std::pow(in[at(p.input, n, k, y, x)], 2.0);
    out[at(p.input, n, c, y, x)] =
        in[at(p.input, n, c, y, x)] * std::pow(l.k + l.alpha / l.size * squares, -l.beta);
  });
  return out;
}

struct Moments {
  Values mean;
  Values variance;  // divided by the count, not by one less
};
inline Moments moments_of(const Shape& shape, const Values& in, std::size_t batch) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const double count = static_cast<double>(batch) * shape.height * shape.width;
  Moments moments{Values(channels, 0.0), Values(channels, 0.0)};
  for_each_value(shape, batch, [&](int n, int c, int y, int x) {
    moments.mean[static_cast<std::size_t>(c)] += in[at(shape, n, c, y, x)] / count;
  });
  for_each_value(shape, batch, [&](int n, int c, int y, int x) {
    const double distance = in[at(shape, n, c, y, x)] - moments.mean[static_cast<std::size_t>(c)];
    moments.variance[static_cast<std::size_t>(c)] += distance * distance / count;
  });
  return moments;
}

inline Values batch_norm(const PlannedLayer& p, const Values& in, std::size_t batch, const Setting& with) {
  const auto channels = static_cast<std::size_t>(p.input.channels);
  Moments moments;
  if (with.training) {
    moments = moments_of(p.input, in, batch);
  } else {
    const auto state = with.state.subspan(p.state_offset, 2 * channels);
    moments = {Values(state.begin(), state.begin() + p.input.channels),
               Values(state.begin() + p.input.channels, state.end())};
  }
  Values out(in.size());
  for_each_value(p.input, batch, [&](int n, int c, int y, int x) {
    const auto k = static_cast<std::size_t>(c);
    double value =
        (in[at(p.input, n, c, y, x)] - moments.mean[k]) / std::sqrt(moments.variance[k] + p.layer.epsilon);
    if (p.bias_count > 0)
      value = value * with.parameters[p.weights_offset + k] + with.parameters[p.bias_offset + k];
    out[at(p.input, n, c, y, x)] = value;
  });
  return out;
}

inline Values dropout(const PlannedLayer& p, std::size_t index, Values in, const Setting& with) {
  if (!with.training) return in;
  const std::uint64_t key = dropout_key(with.key, index);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool keep = dropout_keeps(key, i, dropout_limit(p.layer.rate));
    in[i] = keep ? in[i] / (1.0 - p.layer.rate) : 0.0;
  }
  return in;
}

inline Values concat(const PlannedLayer& p, const std::vector<const Values*>& ins, std::size_t batch) {
  Values out;
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t i = 0; i < ins.size(); ++i) {
      const auto size = static_cast<std::ptrdiff_t>(p.inputs[i].count());
      const auto begin = ins[i]->begin() + static_cast<std::ptrdiff_t>(n) * size;
      out.insert(out.end(), begin, begin + size);
    }
  }
  return out;
}

inline Values layer_output(const PlannedLayer& p, std::size_t index, const std::vector<const Values*>& ins,
                           std::size_t batch, const Setting& with) {
  Values x = *ins.front();
  switch (p.layer.kind) {
    case LayerKind::convolution:
      return convolution(p, x, batch, with);
    case LayerKind::pooling:
      return pooling(p, x, batch);
    case LayerKind::inner_product:
      return inner_product(p, x, batch, with);
    case LayerKind::lrn:
      return lrn(p, x, batch);
    case LayerKind::batch_norm:
      return batch_norm(p, x, batch, with);
    case LayerKind::dropout:
      return dropout(p, index, std::move(x), with);
    case LayerKind::concat:
      return concat(p, ins, batch);
    case LayerKind::relu:
      for (double& v : x) v = v < 0.0 ? p.layer.slope * v : v;
      return x;
    case LayerKind::sum:
      for (std::size_t k = 1; k < ins.size(); ++k) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += (*ins[k])[i];
      }
      return x;
    case LayerKind::softmax_loss:
      break;
  }
  return x;
}

// The outputs of all layers.
inline std::vector<Values> forward(const Net& net, const Values& images, std::size_t batch,
                                   const Setting& with) {
  std::vector<Values> outputs;
  for (std::size_t i = 0; i < net.layers.size(); ++i) {
    std::vector<const Values*> ins;
    for (const std::size_t source : net.layers[i].sources)
      ins.push_back(source == from_images ? &images : &outputs[source]);
    outputs.push_back(layer_output(net.layers[i], i, ins, batch, with));
  }
  return outputs;
}

// The loss summed over the images.
inline double loss(const Net& net, std::span<const float> images, std::span<const Label> labels,
                   const Setting& with) {
  const Values logits = forward(net, Values(images.begin(), images.end()), labels.size(), with).back();
  const auto classes = static_cast<std::size_t>(net.classes);
  double total = 0.0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const auto z = std::span(logits).subspan(n * classes, classes);
    double exponentials = 0.0;
    for (const double v : z) exponentials += std::exp(v);
    total += std::log(exponentials) - z[labels[n]];
  }
  return total;
}

}  // namespace ddlrun::runtime::reference
