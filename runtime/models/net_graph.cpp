// SPDX-License-Identifier: MIT
#include "runtime/models/net_graph.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ddlrun::runtime {
namespace {

class GraphOrder {
 public:
  GraphOrder(std::span<const Layer> layers, const std::string& location)
      : layers_(layers), location_(location) {}

  NetGraph order() {
    name_layers();
    for (std::size_t i = 0; i < layers_.size(); ++i) resolve(i);
    find_logits();
    put_in_order();
    check_readers();
    return std::move(graph_);
  }

 private:
  void refuse(std::size_t layer, std::string what, std::string hint) {
    graph_.errors.push_back({std::move(what), layers_[layer].location, std::move(hint)});
  }
  static std::string shown(const std::string& name) { return printable(name, 60); }

  void name_layers() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      nodes_.push_back(
          {i, layer.name.empty() ? fmt::format("{}{}", name_of(layer.kind), i + 1) : layer.name, {}});
      const std::string& name = nodes_.back().name;
      if (name == name_of_images) {
        refuse(i, fmt::format("a layer is named '{}', the name of the images", name), "name: conv1");
      } else if (!known_.emplace(name, i).second) {
        refuse(i, fmt::format("two layers are named '{}'", shown(name)),
               fmt::format("name: {}_2", shown(name)));
      }
    }
  }

  void resolve(std::size_t i) {
    if (layers_[i].inputs.empty()) {
      nodes_[i].sources.push_back(i == 0 ? from_images : i - 1);
    }
    for (const std::string& input : layers_[i].inputs) {
      const auto found = known_.find(input);
      if (input == name_of_images) {
        nodes_[i].sources.push_back(from_images);
      } else if (found == known_.end()) {
        nodes_[i].sources.push_back(from_nowhere);
        std::vector<std::string> names{std::string(name_of_images)};
        for (const GraphNode& node : nodes_) names.push_back(node.name);
        refuse(i,
               fmt::format("layer {} reads '{}', which is not a layer", shown(nodes_[i].name), shown(input)),
               fmt::format("inputs: [{}]",
                           closest_match(input, names)
                               .value_or(i == 0 ? std::string(name_of_images) : shown(nodes_[i - 1].name))));
      } else {
        nodes_[i].sources.push_back(found->second);
      }
    }
    for (std::size_t& source : nodes_[i].sources) {
      if (source >= nodes_.size() || !is_loss(source)) continue;
      refuse(i,
             fmt::format("layer {} reads {}, which is the loss", shown(nodes_[i].name),
                         shown(nodes_[source].name)),
             fmt::format("inputs: [{}]", name_of_images));
      source = from_nowhere;
    }
  }

  bool is_loss(std::size_t i) const { return layers_[i].kind == LayerKind::softmax_loss; }

  // The loss, if it is written, is not computed as a layer: it names the layer that gives the logits.
  void find_logits() {
    std::size_t loss = layers_.size();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!is_loss(i)) continue;
      if (loss < layers_.size()) {
        refuse(i,
               fmt::format("layer {} is a second loss after {}; a net has only one", shown(nodes_[i].name),
                           shown(nodes_[loss].name)),
               "remove it");
        continue;
      }
      loss = i;
    }
    if (layers_.empty()) {
      graph_.errors.push_back(
          {"the net has no layers", location_, "layers: [{kind: inner_product, outputs: classes}]"});
      return;
    }
    logits_ = layers_.size() - 1;
    if (loss == layers_.size()) return;
    logits_ = nodes_[loss].sources.front();
    if (logits_ == from_images) {
      refuse(loss, "the loss reads the images directly", "kind: inner_product   # before it");
    }
  }

  // Among the layers with resolved inputs, the first in the file comes first.
  void put_in_order() {
    std::vector<std::size_t> location(nodes_.size(), from_nowhere);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (location[i] != from_nowhere || is_loss(i) || !ready(i, location)) continue;
        location[i] = graph_.nodes.size();
        graph_.nodes.push_back(nodes_[i]);
        moved = true;
      }
    }
    for (GraphNode& node : graph_.nodes) {
      for (std::size_t& source : node.sources) {
        if (source < nodes_.size()) source = location[source];
      }
    }
    if (logits_ < nodes_.size()) graph_.logits = location[logits_];
    refuse_cycles(location);
  }
  bool ready(std::size_t i, const std::vector<std::size_t>& location) const {
    return std::all_of(nodes_[i].sources.begin(), nodes_[i].sources.end(), [&](std::size_t source) {
      return source >= nodes_.size() || location[source] != from_nowhere;
    });
  }
  void refuse_cycles(const std::vector<std::size_t>& location) {
    std::vector<std::string> stuck;
    std::size_t first = nodes_.size();
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (location[i] != from_nowhere || is_loss(i)) continue;
      stuck.insert(stuck.begin(), shown(nodes_[i].name));
      first = i;
    }
    if (stuck.empty()) return;
    refuse(first,
           fmt::format("{} of {} layers form a cycle: {}", stuck.size(), nodes_.size(),
                       printable(join(stuck, ", "))),
           fmt::format("inputs: [{}]", name_of_images));
    has_cycle_ = true;
  }

  void check_readers() {
    if (has_cycle_) return;
    std::vector<bool> read(graph_.nodes.size(), false);
    for (const GraphNode& node : graph_.nodes) {
      for (const std::size_t source : node.sources) {
        if (source < read.size()) read[source] = true;
      }
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i] || i == graph_.logits) continue;
      refuse(graph_.nodes[i].layer,
             fmt::format("no layer reads the output of layer {}", shown(graph_.nodes[i].name)),
             fmt::format("inputs: [{}]   # in a layer after it", shown(graph_.nodes[i].name)));
    }
  }

  std::span<const Layer> layers_;
  const std::string& location_;
  std::vector<GraphNode> nodes_;  // as written
  std::map<std::string, std::size_t> known_;
  std::size_t logits_ = from_nowhere;
  bool has_cycle_ = false;
  NetGraph graph_;
};

}  // namespace

NetGraph order_layers(std::span<const Layer> layers, const std::string& location) {
  return GraphOrder(layers, location).order();
}

}  // namespace ddlrun::runtime
