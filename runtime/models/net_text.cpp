// SPDX-License-Identifier: MIT
#include "runtime/models/net_text.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {
namespace {

std::string_view yaml_kind(const Layer& layer) {
  if (layer.kind == LayerKind::pooling) return layer.method == PoolMethod::max ? "max_pool" : "average_pool";
  return name_of(layer.kind);
}

std::string render_sides(std::string_view key, const Sides& sides) {
  return fmt::format(", {}: [{}, {}]", key, sides.height, sides.width);
}

std::string render_inputs(const Net& net, const PlannedLayer& planned) {
  std::string names;
  for (const std::size_t source : planned.sources) {
    names += names.empty() ? "" : ", ";
    names += source == from_images ? std::string(name_of_images) : net.layers[source].name;
  }
  return fmt::format(", inputs: [{}]", names);
}

// The keys that its kind has.
std::string render_keys(const PlannedLayer& planned) {
  const Layer& l = planned.layer;
  std::string text;
  switch (l.kind) {
    case LayerKind::convolution:
      text = fmt::format(", outputs: {}", planned.output.channels) + render_sides("kernel", l.kernel) +
             render_sides("stride", l.stride) + render_sides("padding", l.padding) +
             render_sides("dilation", l.dilation) + fmt::format(", groups: {}, bias: {}", l.groups, l.bias);
      break;
    case LayerKind::inner_product:
      text = fmt::format(", outputs: {}, bias: {}", planned.output.channels, l.bias);
      break;
    case LayerKind::pooling:
      text = l.global ? ", global: true"
                      : render_sides("kernel", l.kernel) + render_sides("stride", l.stride) +
                            render_sides("padding", l.padding) +
                            fmt::format(", rounding: {}", l.rounding == Rounding::ceil ? "ceil" : "floor");
      break;
    case LayerKind::relu:
      text = fmt::format(", slope: {}", l.slope);
      break;
    case LayerKind::dropout:
      text = fmt::format(", rate: {}", l.rate);
      break;
    case LayerKind::lrn:
      text = fmt::format(", size: {}, alpha: {}, beta: {}, k: {}", l.size, l.alpha, l.beta, l.k);
      break;
    case LayerKind::batch_norm:
      text = fmt::format(", affine: {}, epsilon: {}, keep: {}", l.bias, l.epsilon, l.keep);
      break;
    case LayerKind::sum:
    case LayerKind::concat:
    case LayerKind::softmax_loss:
      break;
  }
  return text;
}

}  // namespace

std::string render_net_yaml(const Net& net) {
  std::string text = fmt::format("name: {}\nimages: [{}x{}x{}]\nlayers:\n", net.name, net.input.channels,
                                 net.input.height, net.input.width);
  for (const PlannedLayer& planned : net.layers)
    text += fmt::format("  - {{name: {}, kind: {}{}{}}}\n", planned.name, yaml_kind(planned.layer),
                        render_inputs(net, planned), render_keys(planned));
  return text;
}

}  // namespace ddlrun::runtime
