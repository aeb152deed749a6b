// SPDX-License-Identifier: MIT
// Computes the output shape and parameter sizes of a layer, and finds its errors.
#pragma once

#include "runtime/models/layer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct ShapedLayer {
  Layer layer;  // as asked, with the kernel of a global pooling and the number of outputs filled in
  Shape output;
  std::vector<int> weight_dims;  // empty: no weights
  std::uint64_t weight_count = 0;
  std::uint64_t bias_count = 0;
  std::uint64_t state_count = 0;
  std::vector<Message> errors;  // if any, the other fields are invalid
};

// `name`: the layer's, for messages. `inputs`: at least one.
ShapedLayer shape_layer(Layer layer, const std::string& name, std::span<const Shape> inputs, int classes);

std::string render_shape(const Shape& shape);  // "3x224x224"

}  // namespace ddlrun::runtime
