// SPDX-License-Identifier: MIT
// oneDNN 2.x describes an operation with an object, 3.x with arguments of the primitive descriptor. Only this
// file depends on the version: one function for each operation of the trainer.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>
#include <vector>

namespace ddlrun::runtime::cpu {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

// Windows of a pooling. The right padding may exceed the left one: the last window may reach beyond the
// image.
struct PoolWindows {
  dnnl::algorithm algorithm;
  Dims kernel;
  Dims stride;
  Dims left;
  Dims right;
};
struct LrnRule {
  dnnl::memory::dim size;
  float alpha;
  float beta;
  float k;
};
// The backward pass reads the result instead of the source, so the result may overwrite the source.
constexpr auto relu_algorithm = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
constexpr auto lrn_algorithm = dnnl::algorithm::lrn_across_channels;
// Backward, batch norm reads no shift: oneDNN 3 refuses the argument, oneDNN 2 refuses the call without it
// (seen with 3.7.2 and 2.7.3).
constexpr bool backward_norm_takes_shift = DNNL_VERSION_MAJOR < 3;

#if DNNL_VERSION_MAJOR >= 3

inline Dims dims_of(const Desc& desc) { return desc.get_dims(); }

template <class Operation, class... Args>
typename Operation::primitive_desc describe(const dnnl::engine& engine, Args&&... args) {
  return {engine, std::forward<Args>(args)...};
}
template <class Operation, class... Args>
typename Operation::primitive_desc describe_with(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                                                 Args&&... args) {
  return {engine, std::forward<Args>(args)..., attr};
}
template <class Operation, class Hint, class... Args>
typename Operation::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     Args&&... args) {
  return {engine, std::forward<Args>(args)..., hint};
}
inline dnnl::primitive_attr relu_after(float slope) {
  dnnl::post_ops after;
  after.append_eltwise(dnnl::algorithm::eltwise_relu, slope, 0.0F);
  dnnl::primitive_attr attr;
  attr.set_post_ops(after);
  return attr;
}
inline auto describe_pool(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& source,
                          const Desc& destination, const PoolWindows& w) {
  return describe<dnnl::pooling_forward>(engine, kind, w.algorithm, source, destination, w.stride, w.kernel,
                                         Dims(w.kernel.size(), 0), w.left, w.right);
}
inline auto describe_pool_backward(const dnnl::engine& engine,
                                   const dnnl::pooling_forward::primitive_desc& hint, const Desc& source,
                                   const Desc& destination, const PoolWindows& w) {
  return describe_backward<dnnl::pooling_backward>(engine, hint, w.algorithm, source, destination, w.stride,
                                                   w.kernel, Dims(w.kernel.size(), 0), w.left, w.right);
}
inline auto describe_relu(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data, float slope) {
  return describe<dnnl::eltwise_forward>(engine, kind, relu_algorithm, data, data, slope, 0.0F);
}
inline auto describe_relu_backward(const dnnl::engine& engine,
                                   const dnnl::eltwise_forward::primitive_desc& hint, const Desc& data,
                                   float slope) {
  return describe_backward<dnnl::eltwise_backward>(engine, hint, relu_algorithm, data, data, data, slope,
                                                   0.0F);
}
inline auto describe_lrn(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data,
                         const LrnRule& r) {
  return describe<dnnl::lrn_forward>(engine, kind, lrn_algorithm, data, data, r.size, r.alpha, r.beta, r.k);
}
inline auto describe_lrn_backward(const dnnl::engine& engine, const dnnl::lrn_forward::primitive_desc& hint,
                                  const Desc& data, const LrnRule& r) {
  return describe_backward<dnnl::lrn_backward>(engine, hint, lrn_algorithm, data, data, data, r.size, r.alpha,
                                               r.beta, r.k);
}
inline auto describe_norm(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data, float epsilon,
                          dnnl::normalization_flags flags) {
  return describe<dnnl::batch_normalization_forward>(engine, kind, data, data, epsilon, flags);
}
inline auto describe_norm_backward(const dnnl::engine& engine,
                                   const dnnl::batch_normalization_forward::primitive_desc& hint,
                                   dnnl::prop_kind kind, const Desc& data, float epsilon,
                                   dnnl::normalization_flags flags) {
  return describe_backward<dnnl::batch_normalization_backward>(engine, hint, kind, data, data, data, epsilon,
                                                               flags);
}
inline dnnl::sum::primitive_desc describe_sum(const dnnl::engine& engine, const std::vector<Desc>& sources) {
  return {engine, std::vector<float>(sources.size(), 1.0F), sources};
}
inline dnnl::concat::primitive_desc describe_concat(const dnnl::engine& engine,
                                                    const std::vector<Desc>& sources) {
  return {engine, 1, sources};
}

#else

inline Dims dims_of(const Desc& desc) { return desc.dims(); }

template <class Operation, class... Args>
typename Operation::primitive_desc describe(const dnnl::engine& engine, Args&&... args) {
  return {typename Operation::desc(std::forward<Args>(args)...), engine};
}
template <class Operation, class... Args>
typename Operation::primitive_desc describe_with(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                                                 Args&&... args) {
  return {typename Operation::desc(std::forward<Args>(args)...), attr, engine};
}
template <class Operation, class Hint, class... Args>
typename Operation::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     Args&&... args) {
  return {typename Operation::desc(std::forward<Args>(args)...), engine, hint};
}
inline dnnl::primitive_attr relu_after(float slope) {
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, slope, 0.0F);
  dnnl::primitive_attr attr;
  attr.set_post_ops(after);
  return attr;
}
inline auto describe_pool(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& source,
                          const Desc& destination, const PoolWindows& w) {
  return describe<dnnl::pooling_forward>(engine, kind, w.algorithm, source, destination, w.stride, w.kernel,
                                         w.left, w.right);
}
inline auto describe_pool_backward(const dnnl::engine& engine,
                                   const dnnl::pooling_forward::primitive_desc& hint, const Desc& source,
                                   const Desc& destination, const PoolWindows& w) {
  return describe_backward<dnnl::pooling_backward>(engine, hint, w.algorithm, source, destination, w.stride,
                                                   w.kernel, w.left, w.right);
}
inline auto describe_relu(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data, float slope) {
  return describe<dnnl::eltwise_forward>(engine, kind, relu_algorithm, data, slope, 0.0F);
}
inline auto describe_relu_backward(const dnnl::engine& engine,
                                   const dnnl::eltwise_forward::primitive_desc& hint, const Desc& data,
                                   float slope) {
  return describe_backward<dnnl::eltwise_backward>(engine, hint, relu_algorithm, data, data, slope, 0.0F);
}
inline auto describe_lrn(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data,
                         const LrnRule& r) {
  return describe<dnnl::lrn_forward>(engine, kind, lrn_algorithm, data, r.size, r.alpha, r.beta, r.k);
}
inline auto describe_lrn_backward(const dnnl::engine& engine, const dnnl::lrn_forward::primitive_desc& hint,
                                  const Desc& data, const LrnRule& r) {
  return describe_backward<dnnl::lrn_backward>(engine, hint, lrn_algorithm, data, data, r.size, r.alpha,
                                               r.beta, r.k);
}
inline auto describe_norm(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data, float epsilon,
                          dnnl::normalization_flags flags) {
  return describe<dnnl::batch_normalization_forward>(engine, kind, data, epsilon, flags);
}
inline auto describe_norm_backward(const dnnl::engine& engine,
                                   const dnnl::batch_normalization_forward::primitive_desc& hint,
                                   dnnl::prop_kind kind, const Desc& data, float epsilon,
                                   dnnl::normalization_flags flags) {
  return describe_backward<dnnl::batch_normalization_backward>(engine, hint, kind, data, data, epsilon,
                                                               flags);
}
inline dnnl::sum::primitive_desc describe_sum(const dnnl::engine& engine, const std::vector<Desc>& sources) {
  return {std::vector<float>(sources.size(), 1.0F), sources, engine};
}
inline dnnl::concat::primitive_desc describe_concat(const dnnl::engine& engine,
                                                    const std::vector<Desc>& sources) {
  return {1, sources, engine};
}

#endif

inline Dims dims_of(const dnnl::memory& memory) { return dims_of(memory.get_desc()); }

}  // namespace ddlrun::runtime::cpu
