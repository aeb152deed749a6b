// SPDX-License-Identifier: MIT
#include "runtime/models/layer_shapes.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ddlrun::runtime {
namespace {

constexpr int most_outputs = 1 << 24;
constexpr int most_side = 1 << 12;

class LayerShaper {
 public:
  LayerShaper(Layer layer, const std::string& name, std::span<const Shape> inputs, int classes)
      : name_(printable(name, 60)), inputs_(inputs), in_(inputs.front()) {
    shaped_.layer = std::move(layer);
    if (shaped_.layer.outputs == as_many_as_classes) shaped_.layer.outputs = classes;
  }

  ShapedLayer shape() {
    const LayerKind kind = shaped_.layer.kind;
    const bool joins = kind == LayerKind::sum || kind == LayerKind::concat;
    if (inputs_.size() > 1 && !joins) {
      refuse(fmt::format("has {} inputs; a layer of kind {} takes one", inputs_.size(), name_of(kind)),
             "kind: sum   # or concat, in a layer before it");
    }
    shaped_.output = in_;
    switch (kind) {
      case LayerKind::convolution:
        shape_convolution();
        break;
      case LayerKind::pooling:
        shape_pooling();
        break;
      case LayerKind::inner_product:
        shape_inner_product();
        break;
      case LayerKind::dropout:
        check(layer().rate >= 0.0 && layer().rate < 1.0,
              fmt::format("has a rate of {}; it must be at least 0 and less than 1", layer().rate),
              "rate: 0.5");
        break;
      case LayerKind::lrn:
        check(layer().size >= 1 && layer().size % 2 == 1 && layer().size <= most_side,
              fmt::format("has a size of {}; it must be an odd number of channels", layer().size), "size: 5");
        check(std::isfinite(layer().alpha) && std::isfinite(layer().beta) && layer().k > 0.0,
              fmt::format("has k {}; it must be above 0", layer().k), "k: 1");
        break;
      case LayerKind::batch_norm:
        shape_batch_norm();
        break;
      case LayerKind::sum:
        shape_sum();
        break;
      case LayerKind::concat:
        shape_concat();
        break;
      case LayerKind::relu:
        check(layer().slope >= 0.0, fmt::format("has a slope of {}; it must be 0 or more", layer().slope),
              "slope: 0.01");
        break;
      case LayerKind::softmax_loss:
        break;
    }
    return std::move(shaped_);
  }

 private:
  const Layer& layer() const { return shaped_.layer; }

  void refuse(const std::string& what, std::string hint) {
    shaped_.errors.push_back({fmt::format("layer {} {}", name_, what), layer().location, std::move(hint)});
  }
  bool check(bool holds, const std::string& what, std::string hint) {
    if (!holds) refuse(what, std::move(hint));
    return holds;
  }

  bool check_outputs() {
    return check(layer().outputs >= 1 && layer().outputs <= most_outputs,
                 fmt::format("has {} outputs; it must have 1 to {}", layer().outputs, most_outputs),
                 "outputs: 10");
  }

  bool check_window() {
    const auto within = [](const Sides& sides, int least) {
      return std::min(sides.height, sides.width) >= least && std::max(sides.height, sides.width) <= most_side;
    };
    const bool kernel = within(layer().kernel, 1), stride = within(layer().stride, 1);
    const bool sizes = check(
        kernel && stride && within(layer().padding, 0),
        fmt::format("has a kernel of {}x{}, a stride of {}x{} and a padding of {}x{}; kernel "
                    "and stride must be 1 to {}, padding 0 to {}",
                    layer().kernel.height, layer().kernel.width, layer().stride.height, layer().stride.width,
                    layer().padding.height, layer().padding.width, most_side, most_side),
        !kernel   ? "kernel: 3"
        : !stride ? "stride: 1"
                  : "padding: 0");
    if (!sizes) return false;
    const int height = in_.height + 2 * layer().padding.height;
    const int width = in_.width + 2 * layer().padding.width;
    const Sides window = reach();
    return check(height >= window.height && width >= window.width,
                 fmt::format("has a kernel of {}x{}, but its input is only {}x{} with padding", window.height,
                             window.width, height, width),
                 fmt::format("kernel: {}", std::max(1, std::min(height, width))));
  }

  // The kernel with the gaps that a dilation leaves.
  Sides reach() const {
    const Layer& l = layer();
    return {(l.kernel.height - 1) * l.dilation.height + 1, (l.kernel.width - 1) * l.dilation.width + 1};
  }

  static int positions(int size, int kernel, int stride, int padding, Rounding rounding) {
    const int room = size + 2 * padding - kernel;
    if (rounding == Rounding::floor) return room / stride + 1;
    const int count = (room + stride - 1) / stride + 1;
    return (count - 1) * stride >= size + padding ? count - 1 : count;  // a window must begin inside
  }
  Shape slide(int channels) const {
    const Layer& l = layer();
    const Sides window = reach();
    return {channels, positions(in_.height, window.height, l.stride.height, l.padding.height, l.rounding),
            positions(in_.width, window.width, l.stride.width, l.padding.width, l.rounding)};
  }

  void set_weights(std::vector<int> dims, int bias) {
    shaped_.weight_count = 1;
    for (const int dim : dims) {
      const auto size = static_cast<std::uint64_t>(dim);
      shaped_.weight_count =
          shaped_.weight_count > UINT64_MAX / 4 / size ? UINT64_MAX / 4 : shaped_.weight_count * size;
    }
    shaped_.weight_dims = std::move(dims);
    shaped_.bias_count = static_cast<std::uint64_t>(bias);
  }

  void shape_convolution() {
    shaped_.layer.rounding = Rounding::floor;
    const Sides& gaps = layer().dilation;
    const bool near =
        gaps.height >= 1 && gaps.width >= 1 && gaps.height <= most_side && gaps.width <= most_side;
    if (!check(
            near,
            fmt::format("has a dilation of {}x{}; both must be 1 to {}", gaps.height, gaps.width, most_side),
            "dilation: 1"))
      return;
    if (!check_outputs() || !check_window()) return;
    const int groups = layer().groups;
    if (!check(groups >= 1 && in_.channels % groups == 0 && layer().outputs % groups == 0,
               fmt::format("has {} groups, which must divide its {} input and {} output channels", groups,
                           in_.channels, layer().outputs),
               "groups: 1"))
      return;
    shaped_.output = slide(layer().outputs);
    set_weights({layer().outputs, in_.channels / groups, layer().kernel.height, layer().kernel.width},
                layer().bias ? layer().outputs : 0);
  }

  void shape_pooling() {
    if (layer().global) {
      shaped_.layer.kernel = {in_.height, in_.width};
      shaped_.layer.stride = {1, 1};
      shaped_.layer.padding = {0, 0};
      shaped_.output = {in_.channels, 1, 1};
      return;
    }
    if (!check_window()) return;
    const Sides& pad = layer().padding;
    if (!check(pad.height < layer().kernel.height && pad.width < layer().kernel.width,
               fmt::format("has a padding of {}x{}, which must be less than its kernel of {}x{}", pad.height,
                           pad.width, layer().kernel.height, layer().kernel.width),
               "padding: 0"))
      return;
    shaped_.output = slide(in_.channels);
  }

  void shape_inner_product() {
    if (!check_outputs()) return;
    shaped_.output = {layer().outputs, 1, 1};
    if (!check(in_.count() <= (std::size_t{1} << 31U) - 1,
               fmt::format("reads {} values; at most {} are supported", in_.count(),
                           (std::size_t{1} << 31U) - 1),
               "kind: pooling   # before it"))
      return;
    set_weights({layer().outputs, static_cast<int>(in_.count())}, layer().bias ? layer().outputs : 0);
  }

  void shape_batch_norm() {
    const bool ok = layer().epsilon > 0.0 && layer().keep >= 0.0 && layer().keep <= 1.0;
    if (!check(ok,
               fmt::format("has epsilon {} and keep {}; epsilon must be above 0, keep from 0 to 1",
                           layer().epsilon, layer().keep),
               layer().epsilon > 0.0 ? "keep: 0.9" : "epsilon: 0.00001"))
      return;
    if (layer().bias) set_weights({in_.channels}, in_.channels);
    shaped_.state_count = 2 * static_cast<std::uint64_t>(in_.channels);
  }

  void shape_sum() {
    for (const Shape& other : inputs_) {
      if (other == in_) continue;
      return refuse(
          fmt::format("sums {} and {}; the shapes must be equal", render_shape(in_), render_shape(other)),
          fmt::format("outputs: {}   # in a layer before it", in_.channels));
    }
  }

  void shape_concat() {
    std::int64_t channels = 0;
    for (const Shape& other : inputs_) {
      channels += other.channels;
      if (other.height == in_.height && other.width == in_.width) continue;
      return refuse(fmt::format("joins the channels of {} and {}; heights and widths must be equal",
                                render_shape(in_), render_shape(other)),
                    "padding: 1   # in a layer before it");
    }
    if (check(channels <= most_outputs,
              fmt::format("has {} channels; at most {} are supported", channels, most_outputs),
              "outputs: 256"))
      shaped_.output.channels = static_cast<int>(channels);
  }

  std::string name_;
  std::span<const Shape> inputs_;
  Shape in_;
  ShapedLayer shaped_;
};

}  // namespace

ShapedLayer shape_layer(Layer layer, const std::string& name, std::span<const Shape> inputs, int classes) {
  return LayerShaper(std::move(layer), name, inputs, classes).shape();
}

std::string render_shape(const Shape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

}  // namespace ddlrun::runtime
