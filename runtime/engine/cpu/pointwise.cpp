// SPDX-License-Identifier: MIT
// Layers that look at one value at a time: ReLU and dropout.
#include "runtime/engine/cpu/layers.hpp"
#include "runtime/engine/dropout.hpp"

namespace ddlrun::runtime::cpu {
namespace {

class ReluSteps : public LayerSteps {
 public:
  ReluSteps(const Layer& layer, ReluMode place) : slope_(static_cast<float>(layer.slope)), place_(place) {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    const dnnl::memory& source = sources.front();
    description_ = describe_relu(builder.engine(), builder.kind(), source.get_desc(), slope_);
    result_ = place_ == ReluMode::own ? builder.memory(description_.dst_desc()) : source;
    if (place_ != ReluMode::fused)
      builder.add(dnnl::eltwise_forward(description_), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result_}});
    return result_;
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted) return {dnnl::memory()};
    const auto description =
        describe_relu_backward(builder.engine(), description_, result_.get_desc(), slope_);
    const dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    const dnnl::memory result = builder.memory(description.diff_src_desc());
    builder.add(dnnl::eltwise_backward(description),
                {{DNNL_ARG_DST, result_}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_SRC, result}});
    return {result};
  }

 private:
  float slope_;
  ReluMode place_;
  dnnl::eltwise_forward::primitive_desc description_;
  dnnl::memory result_;
};

// In plain layout, so that a mask does not depend on oneDNN's choices; the layers around it mostly have it.
class DropoutSteps : public LayerSteps {
 public:
  DropoutSteps(const PlannedLayer& planned, std::size_t index)
      : limit_(dropout_limit(planned.layer.rate)),
        scale_(static_cast<float>(1.0 / (1.0 - planned.layer.rate))),
        index_(index),
        shape_(planned.output) {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    if (!builder.training()) return sources.front();
    const dnnl::memory source = builder.in_plain(sources.front());
    count_ = static_cast<std::size_t>(builder.batch()) * shape_.count();
    mask_ = builder.memory(
        {dims_of(source), dnnl::memory::data_type::u8, dims_of(source).size() == 2 ? Tag::ab : Tag::abcd});
    const dnnl::memory result = builder.memory(source.get_desc());
    builder.add_own({source, mask_, result},
                    [=, key = builder.program().key, mask = mask_, layer = index_,
                     count = static_cast<std::ptrdiff_t>(count_), limit = limit_, scale = scale_] {
                      const float* in = floats_of(source);
                      float* out = floats_of(result);
                      auto* kept = static_cast<unsigned char*>(mask.get_data_handle());
                      const std::uint64_t seed = dropout_key(*key, layer);
#pragma omp parallel for
                      for (std::ptrdiff_t i = 0; i < count; ++i) {
                        const bool keep = dropout_keeps(seed, static_cast<std::uint64_t>(i), limit);
                        kept[i] = keep ? 1 : 0;
                        out[i] = keep ? in[i] * scale : 0.0F;
                      }
                    });
    return result;
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted) return {dnnl::memory()};
    const dnnl::memory incoming = builder.in_plain(gradient);
    const dnnl::memory result = builder.memory(incoming.get_desc());
    builder.add_own({incoming, mask_, result},
                    [=, mask = mask_, scale = scale_, count = static_cast<std::ptrdiff_t>(count_)] {
                      const float* in = floats_of(incoming);
                      float* out = floats_of(result);
                      const auto* kept = static_cast<const unsigned char*>(mask.get_data_handle());
#pragma omp parallel for
                      for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = kept[i] != 0 ? in[i] * scale : 0.0F;
                    });
    return {result};
  }

 private:
  std::uint32_t limit_;
  float scale_;
  std::size_t index_;
  Shape shape_;
  std::size_t count_ = 0;
  dnnl::memory mask_;
};

}  // namespace

std::unique_ptr<LayerSteps> make_relu(const Layer& layer, ReluMode place) {
  return std::make_unique<ReluSteps>(layer, place);
}
std::unique_ptr<LayerSteps> make_dropout(const PlannedLayer& planned, std::size_t index) {
  return std::make_unique<DropoutSteps>(planned, index);
}

}  // namespace ddlrun::runtime::cpu
