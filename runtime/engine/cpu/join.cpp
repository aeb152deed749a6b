// SPDX-License-Identifier: MIT
// Layers with several inputs: sum and concat; and the change of dims between rows and images.
#include "runtime/engine/cpu/layers.hpp"

namespace ddlrun::runtime::cpu {
namespace {

class SumSteps : public LayerSteps {
 public:
  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    count_ = sources.size();
    Memories alike;
    for (const dnnl::memory& source : sources)
      alike.push_back(reshaped(builder, source, dims_of(sources.front())));
    return builder.sum_of(alike);
  }
  Memories backward(Builder&, const dnnl::memory& gradient, bool) override {
    return Memories(count_, gradient);
  }

 private:
  std::size_t count_ = 0;
};

class ConcatSteps : public LayerSteps {
 public:
  explicit ConcatSteps(const PlannedLayer& planned) : planned_(planned) {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    std::unordered_map<int, dnnl::memory> arguments;
    std::vector<Desc> descs;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const dnnl::memory image = as_image(builder, sources[i], planned_.inputs[i]);
      arguments.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), image);
      descs.push_back(image.get_desc());
    }
    const auto description = describe_concat(builder.engine(), descs);
    const dnnl::memory result = builder.memory(description.dst_desc());
    arguments.emplace(DNNL_ARG_DST, result);
    builder.add(dnnl::concat(description), std::move(arguments));
    return result;
  }

  // Each input's channels, cut out of the plain layout.
  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted) return Memories(planned_.inputs.size());
    const dnnl::memory whole = builder.in_plain(gradient);
    Memories gradients;
    dnnl::memory::dim first = 0;
    for (const Shape& shape : planned_.inputs) {
      const Dims dims = dims_of(builder.batch(), shape);
      const dnnl::memory cut =
          builder.part_of(whole, whole.get_desc().submemory_desc(dims, {0, first, 0, 0}));
      gradients.push_back(builder.memory(plain(dims)));
      builder.copy(cut, gradients.back());
      first += shape.channels;
    }
    return gradients;
  }

 private:
  const PlannedLayer& planned_;
};

}  // namespace

std::unique_ptr<LayerSteps> make_sum() { return std::make_unique<SumSteps>(); }
std::unique_ptr<LayerSteps> make_concat(const PlannedLayer& planned) {
  return std::make_unique<ConcatSteps>(planned);
}

dnnl::memory reshaped(Builder& builder, const dnnl::memory& values, const Dims& dims) {
  if (dims_of(values) == dims) return values;
  return builder.part_of(builder.in_plain(values), plain(dims));
}

dnnl::memory as_image(Builder& builder, const dnnl::memory& values, const Shape& shape) {
  return reshaped(builder, values, dims_of(builder.batch(), shape));
}

}  // namespace ddlrun::runtime::cpu
