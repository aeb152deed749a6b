// SPDX-License-Identifier: MIT
// A layer before its inputs are known: kind, sizes, initial values. Built by code, by YAML files and by
// readers of other formats.
#pragma once

#include "base/text/error.hpp"
#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

enum class LayerKind {
  convolution,
  pooling,
  inner_product,
  relu,
  dropout,
  lrn,         // across channels: x * (k + alpha/size * sum of squares)^-beta
  batch_norm,  // with `bias`: weights (gamma) and bias (beta)
  sum,         // of equal shapes
  concat,      // of channels
  softmax_loss,
};

enum class PoolMethod { max, average };  // an average counts padding, but nothing beyond it
enum class Rounding { floor, ceil };     // ceil: a last window may hang over the end (Caffe's way)

// Initial values. a, b: constant a; uniform a to b; gaussian of mean a and deviation b; the others from the
// fan-in.
struct Filler {
  enum class Kind { standard, constant, uniform, gaussian, xavier, msra } kind = Kind::standard;
  double a = 0.0;
  double b = 0.0;
  bool operator==(const Filler&) const = default;
};

struct ParameterSpec {
  Filler filler;
  double lr_factor = 1.0;
  double decay_factor = 1.0;
  bool operator==(const ParameterSpec&) const = default;
};

constexpr int as_many_as_classes = -1;
constexpr std::string_view name_of_images = "data";  // what `inputs` calls the images

struct Layer {
  LayerKind kind = LayerKind::relu;
  std::string name;                 // empty: kind and location, as "relu2"
  std::vector<std::string> inputs;  // names of layers; empty: the layer before, the first layer: the images
  std::string location;             // in the source file, for messages: "net.yaml:7:5"

  int outputs = 0;  // convolution: channels; inner_product: neurons; or as_many_as_classes
  Sides kernel;     // convolution, pooling
  Sides stride = {1, 1};
  Sides padding;
  Sides dilation = {1, 1};  // convolution: pixels from one of a kernel's values to the next
  int groups = 1;           // convolution
  bool bias = true;         // convolution, inner_product; batch_norm: affine
  PoolMethod method = PoolMethod::max;
  Rounding rounding = Rounding::floor;  // pooling
  bool global = false;                  // pooling over the whole image, whatever its size

  double slope = 0.0;     // relu: of negative values
  double rate = 0.5;      // dropout: the share set to 0; the rest is divided by 1 - rate
  int size = 5;           // lrn: channels, odd
  double alpha = 1e-4;    // lrn
  double beta = 0.75;     // lrn
  double k = 1.0;         // lrn
  double epsilon = 1e-5;  // batch_norm: added to the variance
  double keep = 0.9;      // batch_norm: share of the running values kept in each step
  ParameterSpec weight_spec;
  ParameterSpec bias_spec;
};

std::string_view name_of(LayerKind kind);  // YAML has its own names, as "max_pool"

Layer convolution(int outputs, int kernel, int padding = 0, int stride = 1);
Layer max_pool(int kernel);  // windows side by side
Layer pool(PoolMethod method, int kernel, int stride, int padding, Rounding rounding);
Layer global_pool(PoolMethod method);
Layer relu();
Layer linear(int outputs);
Layer dropout(double rate);
Layer lrn(int size, double alpha, double beta, double k = 1.0);
Layer batch_norm(bool affine = true);
Layer sum(std::vector<std::string> inputs);
Layer concat(std::vector<std::string> inputs);
// The same layer with a name, and with inputs.
Layer named(std::string name, Layer layer);
Layer named(std::string name, std::vector<std::string> inputs, Layer layer);

}  // namespace ddlrun::runtime
