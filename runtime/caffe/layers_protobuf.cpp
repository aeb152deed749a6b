// SPDX-License-Identifier: MIT
// Layers that compute, as Caffe writes them → as nets/ has them.
#include "runtime/caffe/layers_protobuf.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace proto = caffe_files;
using Repeated = google::protobuf::RepeatedField<std::uint32_t>;

int small(std::uint64_t value) { return static_cast<int>(std::min<std::uint64_t>(value, 1U << 24U)); }

class LayerConverter {
 public:
  LayerConverter(const LocatedLayer& layer, CaffeReport& report)
      : parameter_(layer.parameter), location_(layer.location), owner_(layer.owner), report_(report) {
    layer_.location = location_.text();
  }

  Layer convert() {
    const std::string& type = parameter_.type();
    if (type == "Convolution") convert_convolution();
    if (type == "InnerProduct") convert_inner_product();
    if (type == "Pooling") convert_pooling();
    if (type == "ReLU") convert_relu();
    if (type == "Dropout") convert_dropout();
    if (type == "LRN") convert_lrn();
    if (type == "BatchNorm") convert_batch_norm();
    if (type == "Eltwise") convert_eltwise();
    if (type == "Concat") layer_.kind = LayerKind::concat;
    return std::move(layer_);
  }

 private:
  void refuse(const PrototxtLocation& at, const std::string& what, std::string hint) {
    report_.refuse(at.text(), owner_ + what, std::move(hint));
  }

  // Caffe's two ways to give two sides: NAME once or twice, or NAME_h and NAME_w. `word` is of the first.
  struct SideFields {
    const char* word;
    const char* stem;
    const Repeated& both;
    bool has_height;
    std::uint32_t height;
    bool has_width;
    std::uint32_t width;
  };
  Sides read_sides(const PrototxtLocation& at, const SideFields& f, int missing) {
    if (f.has_height || f.has_width) {
      if (!f.both.empty()) {
        refuse(at.at(fmt::format("{}_{}", f.stem, f.has_height ? 'h' : 'w')),
               fmt::format("has {0} and also {1}_h or {1}_w", f.word, f.stem),
               fmt::format("{}: {}   # alone", f.word, f.both.Get(0)));
      }
      if (f.has_height != f.has_width && missing != 0) {
        refuse(at.at(fmt::format("{}_{}", f.stem, f.has_height ? 'h' : 'w')),
               fmt::format("has {0}_{1} without {0}_{2}", f.stem, f.has_height ? 'h' : 'w',
                           f.has_height ? 'w' : 'h'),
               fmt::format("{}_{}: {}", f.stem, f.has_height ? 'w' : 'h', f.has_height ? f.height : f.width));
      }
      return {f.has_height ? small(f.height) : missing, f.has_width ? small(f.width) : missing};
    }
    if (f.both.empty()) return {missing, missing};
    if (f.both.size() > 2) {
      refuse(at.at(f.word, 2), fmt::format("has {} values of {}; images have 2 sides", f.both.size(), f.word),
             fmt::format("{}: {}", f.word, f.both.Get(0)));
    }
    return {small(f.both.Get(0)), small(f.both.Get(f.both.size() > 1 ? 1 : 0))};
  }
  void check_least(const PrototxtLocation& at, const char* word, Sides sides) {
    if (std::min(sides.height, sides.width) >= 1) return;
    refuse(at.at(word),
           fmt::format("has a {} of {}x{}; both must be 1 or more", word, sides.height, sides.width),
           fmt::format("{}: {}", word, word == std::string_view("stride") ? 1 : 3));
  }
  template <typename Window>
  void read_window(const PrototxtLocation& at, const Window& p) {
    layer_.kernel = read_sides(at,
                               {"kernel_size", "kernel", p.kernel_size(), p.has_kernel_h(), p.kernel_h(),
                                p.has_kernel_w(), p.kernel_w()},
                               -1);
    layer_.stride = read_sides(
        at, {"stride", "stride", p.stride(), p.has_stride_h(), p.stride_h(), p.has_stride_w(), p.stride_w()},
        1);
    layer_.padding =
        read_sides(at, {"pad", "pad", p.pad(), p.has_pad_h(), p.pad_h(), p.has_pad_w(), p.pad_w()}, 0);
    check_least(at, "stride", layer_.stride);
  }
  void check_kernel(const PrototxtLocation& at) {
    if (layer_.kernel.height == -1) {
      refuse(at, "has no kernel_size", "kernel_size: 3");
      layer_.kernel = {1, 1};
    }
    check_least(at, "kernel_size", layer_.kernel);
  }

  int read_outputs(const PrototxtLocation& at, std::uint32_t outputs) {
    if (outputs == 0) refuse(at.at("num_output"), "has no num_output", "num_output: 10");
    return std::max(1, small(outputs));
  }

  // How fast the layer's blobs learn, and their first values.
  template <typename Weighted>
  void read_weights(const PrototxtLocation& at, const Weighted& p, std::size_t fan_out) {
    layer_.bias = p.bias_term();
    read_factors(layer_.bias ? 2 : 1);
    if (p.has_weight_filler()) {
      layer_.weight_spec.filler =
          read_filler(p.weight_filler(), at.at("weight_filler"), owner_, fan_out, report_);
    } else {
      report_.add_note(at.text(),
                       owner_ +
                           "has no weight_filler; Caffe would start with zeros, which cannot be trained; "
                           "ddl-train uses its default initial values",
                       "weight_filler { type: \"xavier\" }");
    }
    if (p.has_bias_filler())
      layer_.bias_spec.filler = read_filler(p.bias_filler(), at.at("bias_filler"), owner_, fan_out, report_);
    else
      layer_.bias_spec.filler = {Filler::Kind::constant, 0.0, 0.0};
  }
  void read_factors(int blobs) {
    if (parameter_.param_size() > blobs) {
      refuse(location_.at("param", blobs),
             fmt::format("has {} param blocks for {} trainable blobs", parameter_.param_size(), blobs),
             "param { lr_mult: 1 }");
    }
    ParameterSpec* rules[] = {&layer_.weight_spec, &layer_.bias_spec};
    for (int i = 0; i < std::min(2, parameter_.param_size()); ++i) {
      rules[i]->lr_factor = read_factor("lr_mult", parameter_.param(i).lr_mult(), i);
      rules[i]->decay_factor = read_factor("decay_mult", parameter_.param(i).decay_mult(), i);
    }
  }
  double read_factor(const char* word, float factor, int blob) {
    if (!(factor >= 0.0F))
      refuse(location_.at("param", blob).at(word),
             fmt::format("has a {} of {}; it must be 0 or more", word, factor), fmt::format("{}: 1", word));
    return widen(factor);
  }

  void convert_convolution() {
    const proto::ConvolutionParameter& p = parameter_.convolution_param();
    const PrototxtLocation at = location_.at("convolution_param");
    layer_.kind = LayerKind::convolution;
    layer_.outputs = read_outputs(at, p.num_output());
    read_window(at, p);
    check_kernel(at);
    layer_.groups = small(p.group());
    layer_.dilation = read_sides(at, {"dilation", "dilation", p.dilation(), false, 0, false, 0}, 1);
    check_least(at, "dilation", layer_.dilation);
    read_weights(at, p,
                 static_cast<std::size_t>(layer_.outputs) * static_cast<std::size_t>(layer_.kernel.height) *
                     static_cast<std::size_t>(layer_.kernel.width));
  }

  void convert_inner_product() {
    const proto::InnerProductParameter& p = parameter_.inner_product_param();
    const PrototxtLocation at = location_.at("inner_product_param");
    layer_.kind = LayerKind::inner_product;
    layer_.outputs = read_outputs(at, p.num_output());
    read_weights(at, p, static_cast<std::size_t>(layer_.outputs));
  }

  void convert_pooling() {
    const proto::PoolingParameter& p = parameter_.pooling_param();
    const PrototxtLocation at = location_.at("pooling_param");
    layer_.kind = LayerKind::pooling;
    layer_.method = p.pool() == proto::PoolingParameter::MAX ? PoolMethod::max : PoolMethod::average;
    if (p.pool() == proto::PoolingParameter::STOCHASTIC)
      refuse(at.at("pool"), "pools STOCHASTIC; only MAX and AVE are supported", "pool: MAX");
    layer_.rounding = p.round_mode() == proto::PoolingParameter::CEIL ? Rounding::ceil : Rounding::floor;
    layer_.global = p.global_pooling();
    read_window(at, p);
    if (!layer_.global) return check_kernel(at);
    if (layer_.kernel.height != -1)
      refuse(at.at("global_pooling"), "has global_pooling and a kernel", "global_pooling: false");
    if (layer_.stride != Sides{1, 1} || layer_.padding != Sides{0, 0})
      refuse(at.at("global_pooling"), "has global_pooling and a stride or pad", "stride: 1");
    layer_.kernel = {0, 0};
  }

  void convert_relu() {
    layer_.kind = LayerKind::relu;
    layer_.slope = widen(parameter_.relu_param().negative_slope());
    if (!(layer_.slope >= 0.0))
      refuse(location_.at("relu_param").at("negative_slope"),
             fmt::format("has a negative_slope of {}; it must be 0 or more", layer_.slope),
             "negative_slope: 0.01");
  }

  void convert_dropout() {
    layer_.kind = LayerKind::dropout;
    const float rate = parameter_.dropout_param().dropout_ratio();
    if (!(rate >= 0.0F && rate < 1.0F))
      refuse(location_.at("dropout_param").at("dropout_ratio"),
             fmt::format("has a dropout_ratio of {}; it must be at least 0 and less than 1", rate),
             "dropout_ratio: 0.5");
    layer_.rate = widen(rate);
  }

  void convert_lrn() {
    const proto::LRNParameter& p = parameter_.lrn_param();
    layer_.kind = LayerKind::lrn;
    layer_.size = small(p.local_size());
    layer_.alpha = widen(p.alpha());
    layer_.beta = widen(p.beta());
    layer_.k = widen(p.k());
    if (layer_.size % 2 == 0)
      refuse(location_.at("lrn_param").at("local_size"),
             fmt::format("has a local_size of {}, which must be odd", p.local_size()), "local_size: 5");
  }

  void convert_batch_norm() {
    const proto::BatchNormParameter& p = parameter_.batch_norm_param();
    const PrototxtLocation at = location_.at("batch_norm_param");
    layer_.kind = LayerKind::batch_norm;
    layer_.bias = p.has_use_weight_bias() && p.use_weight_bias();  // Intel's: the scale inside
    if (layer_.bias && p.has_filler())
      layer_.weight_spec.filler = read_filler(p.filler(), at.at("filler"), owner_, 1, report_);
    if (layer_.bias && p.has_bias_filler())
      layer_.bias_spec.filler = read_filler(p.bias_filler(), at.at("bias_filler"), owner_, 1, report_);
    layer_.epsilon = widen(p.eps());
    layer_.keep = widen(p.moving_average_fraction());
    if (!(p.eps() > 0.0F))
      refuse(at.at("eps"), fmt::format("has an eps of {}; it must be above 0", p.eps()), "eps: 0.00001");
    if (!(p.moving_average_fraction() >= 0.0F && p.moving_average_fraction() <= 1.0F))
      refuse(
          at.at("moving_average_fraction"),
          fmt::format("has a moving_average_fraction of {}; it must be 0 to 1", p.moving_average_fraction()),
          "moving_average_fraction: 0.9");
  }

  void convert_eltwise() {
    const proto::EltwiseParameter& p = parameter_.eltwise_param();
    layer_.kind = LayerKind::sum;
    for (int i = 0; i < p.coeff_size(); ++i) {
      if (p.coeff(i) == 1.0F) continue;
      refuse(location_.at("eltwise_param").at("coeff", i),
             fmt::format("has a coeff of {}; ddl-train supports only 1", p.coeff(i)), "coeff: 1");
    }
  }

  const proto::LayerParameter& parameter_;
  const PrototxtLocation& location_;
  const std::string& owner_;
  CaffeReport& report_;
  Layer layer_;
};

}  // namespace

Layer read_computing_layer(const LocatedLayer& layer, CaffeReport& report) {
  return LayerConverter(layer, report).convert();
}

void add_scale(const LocatedLayer& scale, Layer& norm, CaffeReport& report) {
  const proto::ScaleParameter& p = scale.parameter.scale_param();
  const PrototxtLocation at = scale.location.at("scale_param");
  norm.bias = true;
  norm.weight_spec = {{Filler::Kind::constant, 1.0, 0.0}, 1.0, 1.0};
  norm.bias_spec = {{Filler::Kind::constant, 0.0, 0.0}, 1.0, 1.0};
  if (p.has_filler())
    norm.weight_spec.filler = read_filler(p.filler(), at.at("filler"), scale.owner, 1, report);
  ParameterSpec* rules[] = {&norm.weight_spec, &norm.bias_spec};
  for (int i = 0; i < std::min(2, scale.parameter.param_size()); ++i) {
    rules[i]->lr_factor = widen(scale.parameter.param(i).lr_mult());
    rules[i]->decay_factor = widen(scale.parameter.param(i).decay_mult());
  }
  if (!p.bias_term()) {
    norm.bias_spec = {{Filler::Kind::constant, 0.0, 0.0}, 0.0, 0.0};  // it is there, and stays 0
  } else if (p.has_bias_filler()) {
    norm.bias_spec.filler = read_filler(p.bias_filler(), at.at("bias_filler"), scale.owner, 1, report);
  }
}

Filler read_filler(const proto::FillerParameter& filler, const PrototxtLocation& location,
                   const std::string& owner, std::size_t fan_out, CaffeReport& report) {
  using Kind = Filler::Kind;
  const std::string& type = filler.type();
  const bool by_fan = type == "xavier" || type == "msra";
  if (by_fan && filler.variance_norm() == proto::FillerParameter::AVERAGE)
    report.refuse(location.at("variance_norm").text(),
                  owner + "has variance_norm AVERAGE; only FAN_IN and FAN_OUT are supported",
                  "variance_norm: FAN_IN");
  const bool by_outputs = by_fan && filler.variance_norm() == proto::FillerParameter::FAN_OUT;
  const auto fan = static_cast<double>(std::max<std::size_t>(1, fan_out));
  if (type == "gaussian" && filler.std() < 0.0F)
    report.refuse(location.at("std").text(),
                  fmt::format("{}has a std of {}; it must be 0 or more", owner, filler.std()), "std: 0.01");
  if (type == "constant") return {Kind::constant, widen(filler.value()), 0.0};
  if (type == "uniform") return {Kind::uniform, widen(filler.min()), widen(filler.max())};
  if (type == "gaussian") return {Kind::gaussian, widen(filler.mean()), widen(filler.std())};
  if (type == "xavier")
    return by_outputs ? Filler{Kind::uniform, -std::sqrt(3.0 / fan), std::sqrt(3.0 / fan)}
                      : Filler{Kind::xavier, 0.0, 0.0};
  if (type == "msra")
    return by_outputs ? Filler{Kind::gaussian, 0.0, std::sqrt(2.0 / fan)} : Filler{Kind::msra, 0.0, 0.0};
  const std::vector<std::string> types{"constant", "gaussian", "uniform", "xavier", "msra"};
  report.refuse(location.at("type").text(),
                fmt::format("{}has the type '{}'; only {} are supported", owner, printable(type, 60),
                            join(types, ", ")),
                fmt::format("type: \"{}\"", closest_match(type, types).value_or("xavier")));
  return {};
}

}  // namespace ddlrun::runtime
