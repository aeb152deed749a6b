// SPDX-License-Identifier: MIT
// Convolution and inner product: layers with weights, in any layout that oneDNN likes.
#include "runtime/engine/cpu/layers.hpp"

#include <string_view>

namespace ddlrun::runtime::cpu {
namespace {

// What both have alike; `Steps` of a convolution or an inner product fill in the descriptions.
class Weighted : public LayerSteps {
 public:
  Weighted(const PlannedLayer& planned, const Layer* relu) : planned_(planned), relu_(relu) {}

 protected:
  bool has_bias() const { return planned_.bias_count > 0; }
  Desc bias_desc() const { return plain({planned_.layer.outputs}); }
  dnnl::primitive_attr attr() const {
    return relu_ != nullptr ? relu_after(static_cast<float>(relu_->slope)) : dnnl::primitive_attr();
  }

  template <class Operation, class Description>
  dnnl::memory run_forward(Builder& builder, const Description& description, const dnnl::memory& source,
                           const Dims& weights) {
    source_ = builder.in_layout(source, description.src_desc());
    weights_ = builder.in_layout(builder.view(builder.flat().parameters, planned_.weights_offset, weights),
                                 description.weights_desc());
    const dnnl::memory result = builder.memory(description.dst_desc());
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, source_}, {DNNL_ARG_WEIGHTS, weights_}, {DNNL_ARG_DST, result}};
    if (has_bias()) {
      arguments.emplace(DNNL_ARG_BIAS, builder.view(builder.flat().parameters, planned_.bias_offset,
                                                    {planned_.layer.outputs}));
    }
    builder.add(Operation(description), std::move(arguments));
    return result;
  }

  template <class Operation, class Description>
  void run_weights(Builder& builder, const Description& description, const dnnl::memory& gradient,
                   const Dims& weights) {
    const dnnl::memory source = builder.in_layout(source_, description.src_desc());
    const dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    const dnnl::memory flat = builder.view(builder.flat().gradients, planned_.weights_offset, weights);
    const bool is_plain = flat.get_desc() == description.diff_weights_desc();
    const dnnl::memory result = is_plain ? flat : builder.memory(description.diff_weights_desc());
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_WEIGHTS, result}};
    if (has_bias()) {
      arguments.emplace(DNNL_ARG_DIFF_BIAS, builder.view(builder.flat().gradients, planned_.bias_offset,
                                                         {planned_.layer.outputs}));
    }
    builder.add(Operation(description), std::move(arguments));
    if (!is_plain) builder.copy(result, flat);
  }

  template <class Operation, class Description>
  dnnl::memory run_data(Builder& builder, const Description& description, const dnnl::memory& gradient) {
    const dnnl::memory weights = builder.in_layout(weights_, description.weights_desc());
    const dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    const dnnl::memory result = builder.memory(description.diff_src_desc());
    builder.add(Operation(description),
                {{DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_SRC, result}});
    return result;
  }

  const PlannedLayer& planned_;
  const Layer* relu_;  // null: none
  dnnl::memory source_;
  dnnl::memory weights_;
};

class ConvolutionSteps : public Weighted {
 public:
  using Weighted::Weighted;

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    const dnnl::memory source = as_image(builder, sources.front(), planned_.input);
    in_ = any_layout(dims_of(builder.batch(), planned_.input));
    out_ = any_layout(dims_of(builder.batch(), planned_.output));
    const auto& l = planned_.layer;
    stride_ = {l.stride.height, l.stride.width};
    dilation_ = {l.dilation.height - 1, l.dilation.width - 1};  // oneDNN counts the gaps
    padding_ = {l.padding.height, l.padding.width};
    weight_dims_ = {l.outputs, planned_.input.channels / l.groups, l.kernel.height, l.kernel.width};
    if (l.groups > 1) {
      weight_dims_[0] /= l.groups;
      weight_dims_.insert(weight_dims_.begin(), l.groups);
    }
    const Desc weights = any_layout(weight_dims_);
    description_ = has_bias()
                       ? describe_with<dnnl::convolution_forward>(builder.engine(), attr(), builder.kind(),
                                                                  algorithm, in_, weights, bias_desc(), out_,
                                                                  stride_, dilation_, padding_, padding_)
                       : describe_with<dnnl::convolution_forward>(builder.engine(), attr(), builder.kind(),
                                                                  algorithm, in_, weights, out_, stride_,
                                                                  dilation_, padding_, padding_);
    return run_forward<dnnl::convolution_forward>(builder, description_, source, weight_dims_);
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    using ForWeights = dnnl::convolution_backward_weights;
    const Desc weights = any_layout(weight_dims_);
    const auto for_weights =
        has_bias() ? describe_backward<ForWeights>(builder.engine(), description_, algorithm, in_, weights,
                                                   bias_desc(), out_, stride_, dilation_, padding_, padding_)
                   : describe_backward<ForWeights>(builder.engine(), description_, algorithm, in_, weights,
                                                   out_, stride_, dilation_, padding_, padding_);
    run_weights<ForWeights>(builder, for_weights, gradient, weight_dims_);
    if (!wanted) return {dnnl::memory()};
    const auto for_data = describe_backward<dnnl::convolution_backward_data>(
        builder.engine(), description_, algorithm, in_, weights, out_, stride_, dilation_, padding_,
        padding_);
    return {run_data<dnnl::convolution_backward_data>(builder, for_data, gradient)};
  }

 private:
  static constexpr auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::primitive_desc description_;
  Desc in_;
  Desc out_;
  Dims stride_;
  Dims dilation_;
  Dims padding_;
  Dims weight_dims_;
};

class InnerProductSteps : public Weighted {
 public:
  using Weighted::Weighted;

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    dnnl::memory source = sources.front();
    out_ = any_layout({builder.batch(), planned_.layer.outputs});
    describe_forward(builder, dims_of(source));
    // Where oneDNN has only its general code for images and wants all weights in another order for it, rows
    // are faster.
    if (std::string_view(description_.impl_info_str()).find(":gemm") != std::string_view::npos &&
        description_.weights_desc() != plain(weight_dims_)) {
      source = reshaped(builder, source,
                        {builder.batch(), static_cast<dnnl::memory::dim>(planned_.input.count())});
      describe_forward(builder, dims_of(source));
    }
    return run_forward<dnnl::inner_product_forward>(builder, description_, source, weight_dims_);
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    using ForWeights = dnnl::inner_product_backward_weights;
    const Desc weights = any_layout(weight_dims_);
    const auto for_weights =
        has_bias()
            ? describe_backward<ForWeights>(builder.engine(), description_, in_, weights, bias_desc(), out_)
            : describe_backward<ForWeights>(builder.engine(), description_, in_, weights, out_);
    run_weights<ForWeights>(builder, for_weights, gradient, weight_dims_);
    if (!wanted) return {dnnl::memory()};
    const auto for_data = describe_backward<dnnl::inner_product_backward_data>(builder.engine(), description_,
                                                                               in_, weights, out_);
    return {run_data<dnnl::inner_product_backward_data>(builder, for_data, gradient)};
  }

 private:
  void describe_forward(const Builder& builder, const Dims& dims) {
    using Forward = dnnl::inner_product_forward;
    in_ = any_layout(dims);
    weight_dims_ = dims;
    weight_dims_[0] = planned_.layer.outputs;
    const Desc weights = any_layout(weight_dims_);
    description_ = has_bias()
                       ? describe_with<Forward>(builder.engine(), attr(), builder.kind(), in_, weights,
                                                bias_desc(), out_)
                       : describe_with<Forward>(builder.engine(), attr(), builder.kind(), in_, weights, out_);
  }

  dnnl::inner_product_forward::primitive_desc description_;
  Desc in_;
  Desc out_;
  Dims weight_dims_;
};

}  // namespace

std::unique_ptr<LayerSteps> make_weighted(const PlannedLayer& planned, const Layer* relu) {
  if (planned.layer.kind == LayerKind::convolution) return std::make_unique<ConvolutionSteps>(planned, relu);
  return std::make_unique<InnerProductSteps>(planned, relu);
}

}  // namespace ddlrun::runtime::cpu
