// SPDX-License-Identifier: MIT
// The graph of a net: resolves names and sorts layers so that each follows its inputs.
#pragma once

#include "runtime/models/net.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

constexpr std::size_t from_nowhere = SIZE_MAX - 1;  // an unknown name

struct GraphNode {
  std::size_t layer = 0;             // in the description
  std::string name;                  // given or made
  std::vector<std::size_t> sources;  // nodes, from_images or from_nowhere
};

struct NetGraph {
  std::vector<GraphNode> nodes;  // in order, without softmax_loss; those of a cycle are left out
  std::size_t logits = 0;        // the node that gives them
  std::vector<Message> errors;
};

// Finds duplicate names, unknown inputs, cycles, several losses and unread outputs.
NetGraph order_layers(std::span<const Layer> layers, const std::string& location);

}  // namespace ddlrun::runtime
