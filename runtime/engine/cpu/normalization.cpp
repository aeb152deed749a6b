// SPDX-License-Identifier: MIT
// Layers that scale values by what is around them: LRN and batch norm.
#include "runtime/engine/cpu/layers.hpp"

namespace ddlrun::runtime::cpu {
namespace {

class LrnSteps : public LayerSteps {
 public:
  explicit LrnSteps(const PlannedLayer& planned)
      : shape_(planned.input),
        rule_{planned.layer.size, static_cast<float>(planned.layer.alpha),
              static_cast<float>(planned.layer.beta), static_cast<float>(planned.layer.k)} {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    source_ = as_image(builder, sources.front(), shape_);
    description_ = describe_lrn(builder.engine(), builder.kind(), source_.get_desc(), rule_);
    const dnnl::memory result = builder.memory(description_.dst_desc());
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, source_}, {DNNL_ARG_DST, result}};
    if (builder.training() && description_.workspace_desc().get_size() > 0) {
      workspace_ = builder.memory(description_.workspace_desc());
      arguments.emplace(DNNL_ARG_WORKSPACE, workspace_);
    }
    builder.add(dnnl::lrn_forward(description_), std::move(arguments));
    return result;
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted) return {dnnl::memory()};
    const auto description = describe_lrn_backward(builder.engine(), description_, source_.get_desc(), rule_);
    const dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    const dnnl::memory result = builder.memory(description.diff_src_desc());
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, source_}, {DNNL_ARG_DIFF_DST, incoming}, {DNNL_ARG_DIFF_SRC, result}};
    if (workspace_) arguments.emplace(DNNL_ARG_WORKSPACE, workspace_);
    builder.add(dnnl::lrn_backward(description), std::move(arguments));
    return {result};
  }

 private:
  Shape shape_;
  LrnRule rule_;
  dnnl::lrn_forward::primitive_desc description_;
  dnnl::memory source_;
  dnnl::memory workspace_;
};

class BatchNormSteps : public LayerSteps {
 public:
  explicit BatchNormSteps(const PlannedLayer& planned)
      : planned_(planned),
        channels_{planned.input.channels},
        epsilon_(static_cast<float>(planned.layer.epsilon)) {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    source_ = sources.front();
    description_ =
        describe_norm(builder.engine(), builder.kind(), source_.get_desc(), epsilon_,
                      flags() | (builder.training() ? none() : dnnl::normalization_flags::use_global_stats));
    const dnnl::memory result = builder.memory(description_.dst_desc());
    mean_ = running(builder, 0);
    variance_ = running(builder, planned_.state_count / 2);
    if (builder.training()) {
      mean_ = builder.memory(plain(channels_));
      variance_ = builder.memory(plain(channels_));
    }
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, source_},
                                                    {DNNL_ARG_DST, result},
                                                    {DNNL_ARG_MEAN, mean_},
                                                    {DNNL_ARG_VARIANCE, variance_}};
    add_affine(builder.flat().parameters, builder, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, arguments);
    builder.add(dnnl::batch_normalization_forward(description_), std::move(arguments));
    if (builder.training()) keep_running(builder);
    return result;
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted && !is_affine()) return {dnnl::memory()};
    const auto kind = is_affine() ? dnnl::prop_kind::backward : dnnl::prop_kind::backward_data;
    const auto description =
        describe_norm_backward(builder.engine(), description_, kind, source_.get_desc(), epsilon_, flags());
    const dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    const dnnl::memory result = builder.memory(description.diff_src_desc());
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, source_},
                                                    {DNNL_ARG_MEAN, mean_},
                                                    {DNNL_ARG_VARIANCE, variance_},
                                                    {DNNL_ARG_DIFF_DST, incoming},
                                                    {DNNL_ARG_DIFF_SRC, result}};
    add_affine(builder.flat().parameters, builder, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, arguments);
    if (!backward_norm_takes_shift) arguments.erase(DNNL_ARG_SHIFT);
    add_affine(builder.flat().gradients, builder, DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT, arguments);
    builder.add(dnnl::batch_normalization_backward(description), std::move(arguments));
    return {result};
  }

 private:
  static dnnl::normalization_flags none() { return dnnl::normalization_flags::none; }
  bool is_affine() const { return planned_.bias_count > 0; }
  dnnl::normalization_flags flags() const {
    return is_affine() ? dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift : none();
  }
  dnnl::memory running(Builder& builder, std::size_t offset) const {
    return builder.view(builder.flat().state, planned_.state_offset + offset, channels_);
  }
  void add_affine(std::span<float> flat, Builder& builder, int scale, int shift,
                  std::unordered_map<int, dnnl::memory>& arguments) const {
    if (!is_affine()) return;
    arguments.emplace(scale, builder.view(flat, planned_.weights_offset, channels_));
    arguments.emplace(shift, builder.view(flat, planned_.bias_offset, channels_));
  }

  // The running variance is that of the population: n/(n-1) of the batch's.
  void keep_running(Builder& builder) const {
    const auto values = static_cast<double>(builder.batch()) * planned_.input.height * planned_.input.width;
    const auto correction = static_cast<float>(values > 1.0 ? values / (values - 1.0) : 1.0);
    const auto keep = static_cast<float>(planned_.layer.keep);
    float* means = builder.flat().state.data() + planned_.state_offset;
    builder.add_own(
        {mean_, variance_}, [=, mean = mean_, variance = variance_, count = planned_.state_count / 2] {
          for (std::size_t c = 0; c < count; ++c) {
            means[c] = keep * means[c] + (1.0F - keep) * floats_of(mean)[c];
            means[count + c] = keep * means[count + c] + (1.0F - keep) * correction * floats_of(variance)[c];
          }
        });
  }

  const PlannedLayer& planned_;
  Dims channels_;
  float epsilon_;
  dnnl::batch_normalization_forward::primitive_desc description_;
  dnnl::memory source_;
  dnnl::memory mean_;
  dnnl::memory variance_;
};

}  // namespace

std::unique_ptr<LayerSteps> make_lrn(const PlannedLayer& planned) {
  return std::make_unique<LrnSteps>(planned);
}
std::unique_ptr<LayerSteps> make_batch_norm(const PlannedLayer& planned) {
  return std::make_unique<BatchNormSteps>(planned);
}

}  // namespace ddlrun::runtime::cpu
