// SPDX-License-Identifier: MIT
#include "runtime/models/net.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/models/layer_shapes.hpp"
#include "runtime/models/net_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ddlrun::runtime {
namespace {

// All gradients must fit into one MPI call, whose count is an int; some elements are reserved for metadata.
constexpr std::uint64_t max_parameters = (std::uint64_t{1} << 31) - 16;

class NetPlanner {
 public:
  NetPlanner(const NetDescription& description, Shape input, int classes)
      : description_(description), classes_(classes) {
    net_.name = description.name;
    net_.input = input;
  }

  Net plan() {
    check_images();
    NetGraph graph = order_layers(description_.layers, description_.location);
    errors_.insert(errors_.end(), graph.errors.begin(), graph.errors.end());
    std::vector<std::optional<Shape>> outputs;
    for (GraphNode& node : graph.nodes) outputs.push_back(add_layer(std::move(node), outputs));
    if (errors_.empty()) check_outputs();
    for (Message& each : errors_) {
      if (each.where.empty()) each.where = description_.location;
      each.hint = in_their_words(std::move(each.hint));
    }
    if (!errors_.empty()) throw join_errors(errors_);
    return std::move(net_);
  }

 private:
  std::string in_their_words(std::string hint) const {
    for (const NetWord& word : description_.words) {
      if (hint.starts_with(word.ours)) return hint.replace(0, word.ours.size(), word.theirs);
    }
    return hint;
  }

  void check_images() {
    const std::vector<Shape>& wanted = description_.images;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), net_.input) != wanted.end()) return;
    std::vector<std::string> words;
    for (const Shape& shape : wanted) words.push_back(render_shape(shape));
    errors_.push_back({fmt::format("{} needs images of {}, but these are {}", printable(net_.name),
                                   join(words, " or "), render_shape(net_.input)),
                       description_.location, "ddl-train --net mlp"});
  }

  // Nothing if its shape cannot be known.
  std::optional<Shape> add_layer(GraphNode node, const std::vector<std::optional<Shape>>& outputs) {
    std::vector<Shape> inputs;
    for (const std::size_t source : node.sources) {
      if (source == from_images) {
        inputs.push_back(net_.input);
      } else if (source < outputs.size() && outputs[source]) {
        inputs.push_back(*outputs[source]);
      } else {
        return std::nullopt;
      }
    }
    Layer layer = description_.layers[node.layer];
    if (node.sources.front() == from_images) add_border(layer, node.name);
    ShapedLayer shaped = shape_layer(std::move(layer), node.name, inputs, classes_);
    if (!shaped.errors.empty()) {
      errors_.insert(errors_.end(), shaped.errors.begin(), shaped.errors.end());
      return std::nullopt;
    }
    const Shape output = shaped.output;
    location(std::move(node), std::move(shaped), std::move(inputs));
    return output;
  }

  // A border of zeros around the images is the same as more padding in the convolutions that read them.
  void add_border(Layer& layer, const std::string& name) {
    const Shape& border = description_.border;
    if (border.height <= net_.input.height && border.width <= net_.input.width) return;
    const int rows = std::max(0, border.height - net_.input.height);
    const int columns = std::max(0, border.width - net_.input.width);
    if (layer.kind != LayerKind::convolution || rows % 2 != 0 || columns % 2 != 0) {
      errors_.push_back(
          {fmt::format("layer {} reads images of {}x{} with a border up to {}x{}: it must be a convolution, "
                       "and the border must be symmetric",
                       printable(name, 60), net_.input.height, net_.input.width, border.height, border.width),
           layer.location, "kind: convolution"});
      return;
    }
    layer.padding.height += rows / 2;
    layer.padding.width += columns / 2;
  }

  void location(GraphNode node, ShapedLayer shaped, std::vector<Shape> inputs) {
    const std::uint64_t end = net_.parameter_count + shaped.weight_count + shaped.bias_count;
    if (end + net_.state_count + shaped.state_count > max_parameters) {
      errors_.push_back(
          {fmt::format(
               "images of {}x{} give {} parameters up to layer {}; at most {} fit into one MPI message",
               net_.input.height, net_.input.width, end, printable(node.name, 60), max_parameters),
           shaped.layer.location.empty() ? description_.location : shaped.layer.location,
           "ddl-train --net lenet5"});
      return;
    }
    PlannedLayer planned;
    planned.name = std::move(node.name);
    planned.sources = std::move(node.sources);
    planned.input = inputs.front();
    planned.inputs = std::move(inputs);
    planned.output = shaped.output;
    planned.layer = std::move(shaped.layer);
    planned.weights_offset = net_.parameter_count;
    planned.weights_count = shaped.weight_count;
    planned.bias_offset = planned.weights_offset + planned.weights_count;
    planned.bias_count = shaped.bias_count;
    planned.state_offset = net_.state_count;
    planned.state_count = shaped.state_count;
    name_tensors(planned, std::move(shaped.weight_dims));
    net_.parameter_count = end;
    net_.state_count += shaped.state_count;
    net_.layers.push_back(std::move(planned));
  }

  void name_tensors(const PlannedLayer& planned, std::vector<int> weight_dims) {
    const auto add = [&](const char* suffix, std::vector<int> dims, std::size_t offset, std::size_t count,
                         const ParameterSpec& rule) {
      if (count == 0) return;
      net_.parameters.push_back(
          {planned.name + suffix, std::move(dims), offset, count, rule.lr_factor, rule.decay_factor});
    };
    const auto flat = [](std::size_t count) { return std::vector<int>{static_cast<int>(count)}; };
    add(".weight", std::move(weight_dims), planned.weights_offset, planned.weights_count,
        planned.layer.weight_spec);
    add(".bias", flat(planned.bias_count), planned.bias_offset, planned.bias_count, planned.layer.bias_spec);
    const std::size_t half = planned.state_count / 2;
    if (half == 0) return;
    net_.state.push_back({planned.name + ".running_mean", flat(half), planned.state_offset, half});
    net_.state.push_back({planned.name + ".running_var", flat(half), planned.state_offset + half, half});
  }

  void check_outputs() {
    const Shape& logits = net_.layers.back().output;
    net_.classes = static_cast<int>(logits.count());
    if (net_.classes < classes_) {
      const Layer& last = net_.layers.back().layer;
      errors_.push_back({fmt::format("the last layer, {}, has {} outputs, but the data has {} classes",
                                     printable(net_.layers.back().name, 60), net_.classes, classes_),
                         last.location.empty() ? description_.location : last.location,
                         fmt::format("outputs: {}", classes_)});
    }
    if (net_.parameter_count == 0 && classes_ > 0) {
      errors_.push_back(
          {"the net has no weights to learn: none of its layers is a convolution, an inner "
           "product or a batch norm with weights",
           description_.location, "kind: inner_product, outputs: classes   # as the last layer"});
    }
  }

  const NetDescription& description_;
  int classes_;
  Net net_;
  std::vector<Message> errors_;
};

}  // namespace

std::size_t PlannedLayer::fan_in() const {
  return weights_count == 0 ? 0 : weights_count / static_cast<std::size_t>(output.channels);
}

Net plan_net(const NetDescription& description, Shape input, int classes) {
  return NetPlanner(description, input, classes).plan();
}

Net plan_net(std::string name, Shape input, std::span<const Layer> layers) {
  NetDescription description;
  description.location = "--net " + name;
  description.name = std::move(name);
  description.layers.assign(layers.begin(), layers.end());
  return plan_net(description, input, 0);
}

double count_products(const Net& net) {
  double products = 0.0;
  for (const PlannedLayer& layer : net.layers) {
    if (layer.layer.kind != LayerKind::convolution && layer.layer.kind != LayerKind::inner_product) continue;
    products += static_cast<double>(layer.weights_count) * layer.output.height * layer.output.width;
  }
  return products;
}

std::uint64_t fingerprint(const Net& net) {
  std::string text = fmt::format("{};", render_shape(net.input));
  for (const PlannedLayer& p : net.layers) {
    const Layer& l = p.layer;
    text += fmt::format("{} {} {} {}x{} {}x{} {}x{} {} {} {} {} {}", p.name, name_of(l.kind),
                        render_shape(p.output), l.kernel.height, l.kernel.width, l.stride.height,
                        l.stride.width, l.padding.height, l.padding.width, l.groups, l.bias,
                        static_cast<int>(l.method), l.global, l.size);
    text += fmt::format(" {} {} {} {} {} {};", l.rate, l.alpha, l.beta, l.k, l.epsilon, l.keep);
    if (l.dilation != Sides{1, 1})
      text += fmt::format(" dilation {}x{};", l.dilation.height, l.dilation.width);
    if (l.slope != 0.0) text += fmt::format(" slope {};", l.slope);
    for (const std::size_t source : p.sources) text += fmt::format(" {}", static_cast<std::int64_t>(source));
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

}  // namespace ddlrun::runtime
