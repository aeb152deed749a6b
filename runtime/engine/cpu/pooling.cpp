// SPDX-License-Identifier: MIT
#include "runtime/engine/cpu/layers.hpp"

#include <algorithm>

namespace ddlrun::runtime::cpu {
namespace {

class PoolingSteps : public LayerSteps {
 public:
  explicit PoolingSteps(const PlannedLayer& planned) : planned_(planned), windows_(plan_windows()) {}

  dnnl::memory forward(Builder& builder, const Memories& sources) override {
    source_ = as_image(builder, sources.front(), planned_.input);
    const Desc out = any_layout(dims_of(builder.batch(), planned_.output));
    description_ = describe_pool(builder.engine(), builder.kind(), source_.get_desc(), out, windows_);
    const dnnl::memory result = builder.memory(description_.dst_desc());
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, source_}, {DNNL_ARG_DST, result}};
    if (builder.training() && is_max()) {
      workspace_ = builder.memory(description_.workspace_desc());
      arguments.emplace(DNNL_ARG_WORKSPACE, workspace_);
    }
    builder.add(dnnl::pooling_forward(description_), std::move(arguments));
    if (!needs_shares()) return result;
    fill_shares(builder);
    return times_shares(builder, result);
  }

  Memories backward(Builder& builder, const dnnl::memory& gradient, bool wanted) override {
    if (!wanted) return {dnnl::memory()};
    const Desc out = description_.dst_desc();
    const auto description =
        describe_pool_backward(builder.engine(), description_, source_.get_desc(), out, windows_);
    dnnl::memory incoming = builder.in_layout(gradient, description.diff_dst_desc());
    if (needs_shares()) incoming = times_shares(builder, incoming);
    const dnnl::memory result = builder.memory(description.diff_src_desc());
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_DIFF_DST, incoming},
                                                    {DNNL_ARG_DIFF_SRC, result}};
    if (is_max()) arguments.emplace(DNNL_ARG_WORKSPACE, workspace_);
    builder.add(dnnl::pooling_backward(description), std::move(arguments));
    return {result};
  }

 private:
  bool is_max() const { return planned_.layer.method == PoolMethod::max; }

  // What the last window needs on the right: less than the padding where some pixels are left out, more where
  // it hangs over.
  static int right(int size, int outputs, int kernel, int stride, int padding) {
    return (outputs - 1) * stride + kernel - size - padding;
  }
  bool hangs_over() const {
    return windows_.right[0] > windows_.left[0] || windows_.right[1] > windows_.left[1];
  }
  bool is_padded() const { return windows_.left[0] > 0 || windows_.left[1] > 0; }

  PoolWindows plan_windows() const {
    const Layer& l = planned_.layer;
    const int bottom = right(planned_.input.height, planned_.output.height, l.kernel.height, l.stride.height,
                             l.padding.height);
    const int side =
        right(planned_.input.width, planned_.output.width, l.kernel.width, l.stride.width, l.padding.width);
    PoolWindows windows{dnnl::algorithm::pooling_max,
                        {l.kernel.height, l.kernel.width},
                        {l.stride.height, l.stride.width},
                        {l.padding.height, l.padding.width},
                        {std::max(bottom, l.padding.height), std::max(side, l.padding.width)}};
    if (is_max()) return windows;
    const bool exclude = (l.padding == Sides{0, 0}) || bottom > l.padding.height || side > l.padding.width;
    windows.algorithm =
        exclude ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_avg_include_padding;
    return windows;
  }

  // An average over a window counts padding, but not what hangs over. oneDNN knows both or none; so it counts
  // none, and each position is multiplied by the share of the window's values that are pixels.
  bool needs_shares() const { return !is_max() && is_padded() && hangs_over(); }
  static float share(int position, int size, int kernel, int stride, int padding) {
    const int begin = position * stride - padding;
    const int counted = std::min(begin + kernel, size + padding) - begin;
    return static_cast<float>(std::min(begin + kernel, size) - std::max(begin, 0)) /
           static_cast<float>(counted);
  }
  void fill_shares(Builder& builder) {
    const Layer& l = planned_.layer;
    const Shape& out = planned_.output;
    shares_ = builder.persistent(plain({1, 1, out.height, out.width}));
    float* values = floats_of(shares_);
    for (int y = 0; y < out.height; ++y) {
      for (int x = 0; x < out.width; ++x) {
        values[y * out.width + x] =
            share(y, planned_.input.height, l.kernel.height, l.stride.height, l.padding.height) *
            share(x, planned_.input.width, l.kernel.width, l.stride.width, l.padding.width);
      }
    }
  }
  dnnl::memory times_shares(Builder& builder, const dnnl::memory& values) {
    const dnnl::memory result = builder.memory(values.get_desc());
    const auto description = describe<dnnl::binary>(builder.engine(), dnnl::algorithm::binary_mul,
                                                    values.get_desc(), shares_.get_desc(), result.get_desc());
    builder.add(dnnl::binary(description),
                {{DNNL_ARG_SRC_0, values}, {DNNL_ARG_SRC_1, shares_}, {DNNL_ARG_DST, result}});
    return result;
  }

  const PlannedLayer& planned_;
  PoolWindows windows_;
  dnnl::pooling_forward::primitive_desc description_;
  dnnl::memory source_;
  dnnl::memory workspace_;
  dnnl::memory shares_;
};

}  // namespace

std::unique_ptr<LayerSteps> make_pooling(const PlannedLayer& planned) {
  return std::make_unique<PoolingSteps>(planned);
}

}  // namespace ddlrun::runtime::cpu
