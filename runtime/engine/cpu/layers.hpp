// SPDX-License-Identifier: MIT
// Converts each kind of layer to steps of a program. A LayerSteps object lives from the forward to the
// backward pass, because the latter needs its workspace.
#pragma once

#include "runtime/engine/cpu/builder.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace ddlrun::runtime::cpu {

using Memories = std::vector<dnnl::memory>;

class LayerSteps {
 public:
  virtual ~LayerSteps() = default;

  // Adds the forward steps and returns the output.
  virtual dnnl::memory forward(Builder& builder, const Memories& sources) = 0;
  // Adds the backward steps and returns the gradients of the inputs in their order, empty unless `wanted`.
  virtual Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) = 0;
};

enum class ReluMode {
  own,     // a new memory
  source,  // in place: no other layer reads the source
  fused,   // done by the layer before
};

// Convolution, inner product; with the relu that is fused with it, if there is one.
std::unique_ptr<LayerSteps> make_weighted(const PlannedLayer& planned, const Layer* relu);
std::unique_ptr<LayerSteps> make_pooling(const PlannedLayer& planned);
std::unique_ptr<LayerSteps> make_relu(const Layer& layer, ReluMode place);
std::unique_ptr<LayerSteps> make_dropout(const PlannedLayer& planned, std::size_t index);
std::unique_ptr<LayerSteps> make_lrn(const PlannedLayer& planned);
std::unique_ptr<LayerSteps> make_batch_norm(const PlannedLayer& planned);
std::unique_ptr<LayerSteps> make_sum();
std::unique_ptr<LayerSteps> make_concat(const PlannedLayer& planned);

// The same values as batch x shape, also after an inner product, whose rows have no height and width.
dnnl::memory as_image(Builder& builder, const dnnl::memory& values, const Shape& shape);
// The same values with other dims; no copy where the layout is plain.
dnnl::memory reshaped(Builder& builder, const dnnl::memory& values, const Dims& dims);

}  // namespace ddlrun::runtime::cpu
