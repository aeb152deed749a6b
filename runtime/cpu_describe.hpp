// SPDX-License-Identifier: MIT
// oneDNN 2.x describes an operation with an object of its own, 3.x with arguments of the primitive
// descriptor. The difference lives here and nowhere else: one function for each operation of the trainer.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <utility>

namespace ddlrun::runtime::cpu {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

#if DNNL_VERSION_MAJOR >= 3

inline Dims dims_of(const dnnl::memory& memory) { return memory.get_desc().get_dims(); }

template <class Operation, class... Args>
typename Operation::primitive_desc describe(const dnnl::engine& engine, Args&&... args) {
  return {engine, std::forward<Args>(args)...};
}
template <class Operation, class Hint, class... Args>
typename Operation::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     Args&&... args) {
  return {engine, std::forward<Args>(args)..., hint};
}
inline auto describe_pool(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& source,
                          const Desc& destination, const Dims& kernel) {
  const Dims none(kernel.size(), 0);
  return describe<dnnl::pooling_forward>(engine, kind, dnnl::algorithm::pooling_max, source, destination,
                                         kernel, kernel, none, none, none);
}
inline auto describe_pool_backward(const dnnl::engine& engine,
                                   const dnnl::pooling_forward::primitive_desc& hint, const Desc& source,
                                   const Desc& destination, const Dims& kernel) {
  const Dims none(kernel.size(), 0);
  return describe_backward<dnnl::pooling_backward>(engine, hint, dnnl::algorithm::pooling_max, source,
                                                   destination, kernel, kernel, none, none, none);
}
inline auto describe_relu(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data) {
  return describe<dnnl::eltwise_forward>(engine, kind, dnnl::algorithm::eltwise_relu, data, data, 0.0F, 0.0F);
}
inline auto describe_relu_backward(const dnnl::engine& engine,
                                   const dnnl::eltwise_forward::primitive_desc& hint, const Desc& data) {
  return describe_backward<dnnl::eltwise_backward>(engine, hint, dnnl::algorithm::eltwise_relu, data, data,
                                                   data, 0.0F, 0.0F);
}

#else

inline Dims dims_of(const dnnl::memory& memory) { return memory.get_desc().dims(); }

template <class Operation, class... Args>
typename Operation::primitive_desc describe(const dnnl::engine& engine, Args&&... args) {
  return {typename Operation::desc(std::forward<Args>(args)...), engine};
}
template <class Operation, class Hint, class... Args>
typename Operation::primitive_desc describe_backward(const dnnl::engine& engine, const Hint& hint,
                                                     Args&&... args) {
  return {typename Operation::desc(std::forward<Args>(args)...), engine, hint};
}
inline auto describe_pool(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& source,
                          const Desc& destination, const Dims& kernel) {
  const Dims none(kernel.size(), 0);
  return describe<dnnl::pooling_forward>(engine, kind, dnnl::algorithm::pooling_max, source, destination,
                                         kernel, kernel, none, none);
}
inline auto describe_pool_backward(const dnnl::engine& engine,
                                   const dnnl::pooling_forward::primitive_desc& hint, const Desc& source,
                                   const Desc& destination, const Dims& kernel) {
  const Dims none(kernel.size(), 0);
  return describe_backward<dnnl::pooling_backward>(engine, hint, dnnl::algorithm::pooling_max, source,
                                                   destination, kernel, kernel, none, none);
}
inline auto describe_relu(const dnnl::engine& engine, dnnl::prop_kind kind, const Desc& data) {
  return describe<dnnl::eltwise_forward>(engine, kind, dnnl::algorithm::eltwise_relu, data, 0.0F, 0.0F);
}
inline auto describe_relu_backward(const dnnl::engine& engine,
                                   const dnnl::eltwise_forward::primitive_desc& hint, const Desc& data) {
  return describe_backward<dnnl::eltwise_backward>(engine, hint, dnnl::algorithm::eltwise_relu, data, data,
                                                   0.0F, 0.0F);
}

#endif

}  // namespace ddlrun::runtime::cpu
