// SPDX-License-Identifier: MIT
#include "runtime/models/net_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

std::string_view yaml_kind(const Layer& layer) {
  if (layer.kind == LayerKind::pooling) return layer.method == PoolMethod::max ? "max_pool" : "average_pool";
  return name_of(layer.kind);
}

std::string render_sides(std::string_view key, const Sides& sides) {
  return fmt::format(", {}: [{}, {}]", key, sides.height, sides.width);
}

// A name of Caffe's may be "LeNet:#1" or "conv{1}".
std::string quote_yaml(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '/' || c == '.';
  });
  if (plain && !name.empty() && name.front() != '-') return std::string(name);
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

// YAML 1.1, which PyYAML reads, wants a point in a number with an exponent: 1.0e-05.
std::string render_yaml_number(double value) {
  std::string text = fmt::format("{}", value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

std::string render_inputs(const Net& net, const PlannedLayer& planned) {
  std::string names;
  for (const std::size_t source : planned.sources) {
    names += names.empty() ? "" : ", ";
    names += quote_yaml(source == from_images ? name_of_images : net.layers[source].name);
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
      text = fmt::format(", slope: {}", render_yaml_number(l.slope));
      break;
    case LayerKind::dropout:
      text = fmt::format(", rate: {}", render_yaml_number(l.rate));
      break;
    case LayerKind::lrn:
      text = fmt::format(", size: {}, alpha: {}, beta: {}, k: {}", l.size, render_yaml_number(l.alpha),
                         render_yaml_number(l.beta), render_yaml_number(l.k));
      break;
    case LayerKind::batch_norm:
      text = fmt::format(", affine: {}, epsilon: {}, keep: {}", l.bias, render_yaml_number(l.epsilon),
                         render_yaml_number(l.keep));
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
  std::string text = fmt::format("name: {}\nimages: [{}x{}x{}]\nlayers:\n", quote_yaml(net.name),
                                 net.input.channels, net.input.height, net.input.width);
  for (const PlannedLayer& planned : net.layers)
    text += fmt::format("  - {{name: {}, kind: {}{}{}}}\n", quote_yaml(planned.name),
                        yaml_kind(planned.layer), render_inputs(net, planned), render_keys(planned));
  return text;
}

}  // namespace ddlrun::runtime
