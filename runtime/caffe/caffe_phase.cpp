// SPDX-License-Identifier: MIT
#include "runtime/caffe/caffe_phase.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

std::string describe_sides(const Sides& sides) { return fmt::format("{}x{}", sides.height, sides.width); }

std::string describe_window(const Layer& layer) {
  return fmt::format(" kernel {} stride {} pad {}", layer.global ? "global" : describe_sides(layer.kernel),
                     describe_sides(layer.stride), describe_sides(layer.padding));
}

}  // namespace

std::string describe_layer(const Layer& layer) {
  std::string text = fmt::format("{} {} of {}", layer.name, name_of(layer.kind), join(layer.inputs, " "));
  switch (layer.kind) {
    case LayerKind::convolution:
      text += fmt::format(" outputs {} bias {} group {}", layer.outputs, layer.bias, layer.groups) +
              describe_window(layer);
      break;
    case LayerKind::inner_product:
      text += fmt::format(" outputs {} bias {}", layer.outputs, layer.bias);
      break;
    case LayerKind::pooling:
      text += fmt::format(" {} {}", layer.method == PoolMethod::max ? "MAX" : "AVE",
                          layer.rounding == Rounding::ceil ? "CEIL" : "FLOOR") +
              describe_window(layer);
      break;
    case LayerKind::lrn:
      text +=
          fmt::format(" local_size {} alpha {} beta {} k {}", layer.size, layer.alpha, layer.beta, layer.k);
      break;
    case LayerKind::batch_norm:
      text += fmt::format(" scale {} eps {}", layer.bias, layer.epsilon);
      break;
    case LayerKind::dropout:  // nothing in a test
    case LayerKind::relu:
    case LayerKind::sum:
    case LayerKind::concat:
    case LayerKind::softmax_loss:
      break;
  }
  return text;
}

void check_same_layers(const CaffePhase& train, const CaffePhase& test, CaffeReport& report) {
  const std::size_t count = std::max(train.layers.size(), test.layers.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Layer* first = i < train.layers.size() ? &train.layers[i] : nullptr;
    const Layer* second = i < test.layers.size() ? &test.layers[i] : nullptr;
    const std::string in_train = first == nullptr ? "no layer" : describe_layer(*first);
    const std::string in_test = second == nullptr ? "no layer" : describe_layer(*second);
    if (in_train == in_test) continue;
    report.refuse((second == nullptr ? first : second)->location,
                  fmt::format("the phases compute different nets: TRAIN has '{}' where TEST has '{}'",
                              in_train, in_test),
                  "include { phase: TRAIN }   # only in layers of data, loss and accuracy");
    return;
  }
}

}  // namespace ddlrun::runtime
