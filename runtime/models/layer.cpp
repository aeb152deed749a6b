// SPDX-License-Identifier: MIT
#include "runtime/models/layer.hpp"

#include <utility>

namespace ddlrun::runtime {

std::string_view name_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::convolution:
      return "convolution";
    case LayerKind::pooling:
      return "pooling";
    case LayerKind::inner_product:
      return "inner_product";
    case LayerKind::relu:
      return "relu";
    case LayerKind::dropout:
      return "dropout";
    case LayerKind::lrn:
      return "lrn";
    case LayerKind::batch_norm:
      return "batch_norm";
    case LayerKind::sum:
      return "sum";
    case LayerKind::concat:
      return "concat";
    case LayerKind::softmax_loss:
      return "softmax_loss";
  }
  return "layer";
}

Layer convolution(int outputs, int kernel, int padding, int stride) {
  Layer layer;
  layer.kind = LayerKind::convolution;
  layer.outputs = outputs;
  layer.kernel = {kernel, kernel};
  layer.padding = {padding, padding};
  layer.stride = {stride, stride};
  return layer;
}

Layer pool(PoolMethod method, int kernel, int stride, int padding, Rounding rounding) {
  Layer layer = convolution(0, kernel, padding, stride);
  layer.kind = LayerKind::pooling;
  layer.method = method;
  layer.rounding = rounding;
  return layer;
}

Layer max_pool(int kernel) { return pool(PoolMethod::max, kernel, kernel, 0, Rounding::floor); }

Layer global_pool(PoolMethod method) {
  Layer layer;
  layer.kind = LayerKind::pooling;
  layer.method = method;
  layer.global = true;
  return layer;
}

Layer relu() { return {}; }

Layer linear(int outputs) {
  Layer layer;
  layer.kind = LayerKind::inner_product;
  layer.outputs = outputs;
  return layer;
}

Layer dropout(double rate) {
  Layer layer;
  layer.kind = LayerKind::dropout;
  layer.rate = rate;
  return layer;
}

Layer lrn(int size, double alpha, double beta, double k) {
  Layer layer;
  layer.kind = LayerKind::lrn;
  layer.size = size;
  layer.alpha = alpha;
  layer.beta = beta;
  layer.k = k;
  return layer;
}

Layer batch_norm(bool affine) {
  Layer layer;
  layer.kind = LayerKind::batch_norm;
  layer.bias = affine;
  return layer;
}

Layer sum(std::vector<std::string> inputs) {
  Layer layer;
  layer.kind = LayerKind::sum;
  layer.inputs = std::move(inputs);
  return layer;
}

Layer concat(std::vector<std::string> inputs) {
  Layer layer = sum(std::move(inputs));
  layer.kind = LayerKind::concat;
  return layer;
}

Layer named(std::string name, Layer layer) {
  layer.name = std::move(name);
  return layer;
}

Layer named(std::string name, std::vector<std::string> inputs, Layer layer) {
  layer.name = std::move(name);
  layer.inputs = std::move(inputs);
  return layer;
}

}  // namespace ddlrun::runtime
