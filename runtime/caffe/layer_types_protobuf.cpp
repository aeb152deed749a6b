// SPDX-License-Identifier: MIT
// Caffe's types of layers, and today's form of old ones.
#include "base/text/text.hpp"
#include "runtime/caffe/layers_protobuf.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace pb = google::protobuf;
namespace proto = caffe_files;

// A type, and the fields of LayerParameter that are its own.
struct LayerType {
  const char* name;
  LayerRole role;
  const char* fields;
};
constexpr LayerType layer_types[] = {
    {"Convolution", LayerRole::compute, "convolution_param"},
    {"InnerProduct", LayerRole::compute, "inner_product_param"},
    {"Pooling", LayerRole::compute, "pooling_param"},
    {"ReLU", LayerRole::compute, "relu_param"},
    {"Dropout", LayerRole::compute, "dropout_param"},
    {"LRN", LayerRole::compute, "lrn_param"},
    {"BatchNorm", LayerRole::compute, "batch_norm_param"},
    {"Eltwise", LayerRole::compute, "eltwise_param"},
    {"Concat", LayerRole::compute, "concat_param"},
    {"Scale", LayerRole::scale, "scale_param"},
    {"Split", LayerRole::alias, "split_param"},
    {"Flatten", LayerRole::alias, "flatten_param"},
    {"Softmax", LayerRole::softmax, "softmax_param"},
    {"SoftmaxWithLoss", LayerRole::loss, "softmax_param loss_param"},
    {"Accuracy", LayerRole::accuracy, "accuracy_param"},
    {"Silence", LayerRole::silence, ""},
    {"Data", LayerRole::data, "data_param transform_param"},
    {"ImageData", LayerRole::data, "image_data_param transform_param"},
    {"DummyData", LayerRole::data, "dummy_data_param"},
    {"Input", LayerRole::data, "input_param"},
    {"HDF5Data", LayerRole::data, "hdf5_data_param"},
    {"MemoryData", LayerRole::data, "memory_data_param transform_param"},
    {"WindowData", LayerRole::data, "window_data_param transform_param"},
    {"AnnotatedData", LayerRole::data, "annotated_data_param data_param transform_param"},
};

constexpr int most_layers = 10'000;

// What Caffe, Intel's Caffe and SSD compute beyond that.
constexpr const char* other_types =
    "AbsVal ArgMax BNLL BatchReindex Bias Clip ContinuationIndicator ContrastiveLoss Crop Deconvolution "
    "DetectionEvaluate DetectionOutput ELU Embed EuclideanLoss Exp Filter HDF5Output HingeLoss Im2col "
    "InfogainLoss "
    "LSTM Log MVN MultiBoxLoss MultinomialLogisticLoss Normalize PReLU PSROIPooling Parameter Permute Power "
    "PriorBox Python RNN ROIPooling Reduction Reshape SPP Sigmoid SigmoidCrossEntropyLoss Slice SmoothL1Loss "
    "SpatialDropout Swish TanH Threshold Tile VideoData";

// SOFTMAX_LOSS and SoftmaxLoss are one word.
std::string plain_value(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::vector<std::string> all_types() {
  std::vector<std::string> all;
  for (const LayerType& type : layer_types) all.emplace_back(type.name);
  for (const std::string_view type : split(other_types, ' ')) all.emplace_back(type);
  return all;
}

std::string upgrade_type(const proto::V1LayerParameter& old) {
  if (old.type() == proto::V1LayerParameter::SOFTMAX_LOSS) return "SoftmaxWithLoss";
  const std::string plain = plain_value(proto::V1LayerParameter::LayerType_Name(old.type()));
  for (const std::string& type : all_types()) {
    if (plain_value(type) == plain) return type;
  }
  return "";
}

// The fields of equal name and type.
void copy_fields(const pb::Message& from, pb::Message& to) {
  std::vector<const pb::FieldDescriptor*> fields;
  from.GetReflection()->ListFields(from, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const pb::FieldDescriptor* same = to.GetDescriptor()->FindFieldByName(field->name());
    if (same == nullptr || same->message_type() == nullptr || same->message_type() != field->message_type())
      continue;
    if (!field->is_repeated()) {
      to.GetReflection()->MutableMessage(&to, same)->CopyFrom(from.GetReflection()->GetMessage(from, field));
      continue;
    }
    for (int i = 0; i < from.GetReflection()->FieldSize(from, field); ++i) {
      to.GetReflection()->AddMessage(&to, same)->CopyFrom(
          from.GetReflection()->GetRepeatedMessage(from, field, i));
    }
  }
}

proto::LayerParameter upgrade_layer(const proto::V1LayerParameter& old) {
  proto::LayerParameter layer;
  copy_fields(old, layer);
  if (old.has_name()) layer.set_name(old.name());
  layer.set_type(upgrade_type(old));
  *layer.mutable_bottom() = old.bottom();
  *layer.mutable_top() = old.top();
  *layer.mutable_loss_weight() = old.loss_weight();
  const int blobs = std::max({old.param_size(), old.blobs_lr_size(), old.weight_decay_size()});
  for (int i = 0; i < blobs; ++i) {
    proto::ParamSpec& spec = *layer.add_param();
    if (i < old.param_size()) spec.set_name(old.param(i));
    if (i < old.blobs_lr_size()) spec.set_lr_mult(old.blobs_lr(i));
    if (i < old.weight_decay_size()) spec.set_decay_mult(old.weight_decay(i));
  }
  return layer;
}

// Before transform_param there were four fields in the data's own.
template <typename Data>
void upgrade_transform(const Data& data, proto::LayerParameter& layer) {
  proto::TransformationParameter transform;
  if (data.has_scale()) transform.set_scale(data.scale());
  if (data.has_mean_file()) transform.set_mean_file(data.mean_file());
  if (data.has_crop_size()) transform.set_crop_size(data.crop_size());
  if (data.has_mirror()) transform.set_mirror(data.mirror());
  if (transform.ByteSizeLong() > 0) layer.mutable_transform_param()->MergeFrom(transform);
}

// `input: "data"` with input_shape or four input_dim is a layer today.
void upgrade_inputs(const proto::NetParameter& net, const PrototxtLocation& location, CaffeReport& report,
                    std::vector<LocatedLayer>& layers) {
  if (net.input_size() == 0) return;
  proto::LayerParameter layer;
  layer.set_name("input");
  layer.set_type("Input");
  *layer.mutable_top() = net.input();
  if (net.input_shape_size() > 0) {
    *layer.mutable_input_param()->mutable_shape() = net.input_shape();
  } else if (net.input_dim_size() == 4 * net.input_size()) {
    for (int i = 0; i < net.input_size(); ++i) {
      proto::BlobShape& shape = *layer.mutable_input_param()->add_shape();
      for (int dim = 0; dim < 4; ++dim) shape.add_dim(net.input_dim(4 * i + dim));
    }
  } else {
    report.refuse(location.at("input_dim").text(),
                  fmt::format("{} input(s) have {} input_dim; 4 each are needed", net.input_size(),
                              net.input_dim_size()),
                  "input_shape { dim: 64 dim: 1 dim: 28 dim: 28 }");
  }
  layers.emplace_back(std::move(layer), location.at("input"));
}

}  // namespace

LocatedLayer::LocatedLayer(proto::LayerParameter layer, PrototxtLocation where)
    : parameter(std::move(layer)),
      location(std::move(where)),
      owner(fmt::format("layer {}: ",
                        parameter.name().empty() ? parameter.type() : printable(parameter.name(), 60))) {}

LayerRole find_role(const LocatedLayer& layer, CaffeReport& report) {
  const std::string& type = layer.parameter.type();
  for (const LayerType& row : layer_types) {
    if (type == row.name) return row.role;
  }
  const std::vector<std::string> types = all_types();
  const bool known = std::find(types.begin(), types.end(), type) != types.end();
  const auto same = std::find_if(types.begin(), types.end(), [&](const std::string& each) {
    return plain_value(each) == plain_value(type);
  });
  auto near = known ? std::nullopt : closest_match(type, types);
  if (!known && same != types.end()) near = *same;
  report.refuse(layer.location.at("type").text(),
                known ? fmt::format("{}ddl-train does not support Caffe's {} layers", layer.owner, type)
                      : fmt::format("{}unknown layer type '{}'{}", layer.owner, printable(type, 60),
                                    near ? fmt::format("; did you mean {}?", *near) : ""),
                near    ? fmt::format("type: \"{}\"", *near)
                : known ? "exclude { phase: TRAIN }   # in it, if training does not need it"
                        : "type: \"ReLU\"   # a Caffe layer");
  return LayerRole::refused;
}

void drop_foreign_fields(LocatedLayer& layer, CaffeReport& report) {
  const auto* row = std::find_if(std::begin(layer_types), std::end(layer_types),
                                 [&](const LayerType& type) { return layer.parameter.type() == type.name; });
  if (row == std::end(layer_types)) return;
  const std::vector<std::string_view> own = split(row->fields, ' ');
  std::vector<const pb::FieldDescriptor*> fields;
  layer.parameter.GetReflection()->ListFields(layer.parameter, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const std::string& name = field->name();
    const bool of_any_type = name.starts_with("mn_") || name == "quantization_param";
    if (!name.ends_with("_param") || of_any_type) continue;
    if (std::find(own.begin(), own.end(), name) != own.end()) continue;
    layer.parameter.GetReflection()->ClearField(&layer.parameter, field);
    report.unused[name] += 1;
  }
}

std::vector<LocatedLayer> list_layers(const proto::NetParameter& net, const PrototxtLocation& location,
                                      CaffeReport& report) {
  std::vector<LocatedLayer> layers;
  if (net.layer_size() > most_layers || net.layers_size() > most_layers) {
    report.refuse(location.text(),
                  fmt::format("the net has {} layers; the limit is {}",
                              std::max(net.layer_size(), net.layers_size()), most_layers),
                  "ddl-train --net FILE   # a smaller net");
    return layers;
  }
  upgrade_inputs(net, location, report, layers);
  if (net.layer_size() > 0 && net.layers_size() > 0) {
    report.refuse(
        location.at("layers").text(),
        fmt::format("the net has {} layer blocks and {} old layers blocks; Caffe accepts only one kind",
                    net.layer_size(), net.layers_size()),
        "layer { type: \"Convolution\" ... }");
  }
  for (int i = 0; i < net.layer_size(); ++i) layers.emplace_back(net.layer(i), location.at("layer", i));
  for (int i = 0; i < net.layers_size(); ++i) {
    if (net.layers(i).has_layer()) {
      report.refuse(location.at("layers", i).text(),
                    "this net has Caffe's first format (2013), layers { layer { ... } }",
                    "upgrade_net_proto_text OLD NEW   # a tool of Caffe");
      break;
    }
    layers.emplace_back(upgrade_layer(net.layers(i)), location.at("layers", i));
  }
  for (LocatedLayer& layer : layers) {
    proto::LayerParameter& p = layer.parameter;
    if (p.type() == "Data") upgrade_transform(p.data_param(), p);
    if (p.type() == "ImageData") upgrade_transform(p.image_data_param(), p);
  }
  return layers;
}

}  // namespace ddlrun::runtime
