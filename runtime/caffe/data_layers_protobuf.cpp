// SPDX-License-Identifier: MIT
// Layers that give images, and the loss that takes their labels.
#include "base/text/text.hpp"
#include "runtime/caffe/layers_protobuf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::runtime {
namespace {

namespace proto = caffe_files;

constexpr std::int64_t largest_side = 1 << 16;
constexpr std::uint32_t largest_batch = 1U << 24U;

int bounded(std::uint32_t value) { return static_cast<int>(std::min(value, largest_batch)); }

class DataLayerReader {
 public:
  DataLayerReader(const LocatedLayer& layer, CaffeReport& report)
      : parameter_(layer.parameter), location_(layer.location), owner_(layer.owner), report_(report) {
    data_.location = location_.text();
  }

  CaffeData read() {
    const std::string& type = parameter_.type();
    data_.kind = CaffeSource::other;
    data_.type = type;
    if (type == "Data") read_database();
    if (type == "ImageData") read_list();
    if (type == "DummyData") read_dummy();
    if (type == "Input") read_data();
    read_transform();
    return std::move(data_);
  }

 private:
  void refuse(const PrototxtLocation& at, const std::string& what, std::string hint) {
    report_.refuse(at.text(), owner_ + what, std::move(hint));
  }
  template <typename Data>
  void read_source(const Data& p, const PrototxtLocation& at) {
    data_.source = p.source();
    data_.batch_size = bounded(p.batch_size());
    data_.shuffle = p.shuffle();
    if (p.source().empty()) refuse(at, "has no source", "source: \"examples/mnist/mnist_train_lmdb\"");
    if (p.batch_size() == 0 || p.batch_size() > largest_batch)
      refuse(at.at("batch_size"),
             fmt::format("has a batch_size of {}; it must be 1 to {}", p.batch_size(), largest_batch),
             "batch_size: 64");
  }

  void read_database() {
    const proto::DataParameter& p = parameter_.data_param();
    data_.kind = p.backend() == proto::DataParameter::LMDB ? CaffeSource::lmdb : CaffeSource::leveldb;
    if (p.force_encoded_color()) data_.channels = 3;
    read_source(p, location_.at("data_param"));
  }
  void read_list() {
    const proto::ImageDataParameter& p = parameter_.image_data_param();
    const PrototxtLocation at = location_.at("image_data_param");
    data_.kind = CaffeSource::list;
    data_.root_directory = p.root_directory();
    data_.channels = p.is_color() ? 3 : 1;
    data_.resize = {bounded(p.new_height()), bounded(p.new_width())};
    if ((p.new_height() == 0) != (p.new_width() == 0))
      refuse(at.at(p.new_height() != 0 ? "new_height" : "new_width"),
             "has only one of new_height and new_width",
             fmt::format("new_height: {0} new_width: {0}", std::max(p.new_height(), p.new_width())));
    read_source(p, at);
  }
  void read_dummy() {
    const proto::DummyDataParameter& p = parameter_.dummy_data_param();
    data_.kind = CaffeSource::invented;
    const PrototxtLocation at = location_.at("dummy_data_param");
    if (p.shape_size() > 0) return take_shape(p.shape(0), at.at("shape"));
    if (p.num_size() == 0 || p.channels_size() == 0 || p.height_size() == 0 || p.width_size() == 0)
      return refuse(at, "has no shape", "shape { dim: 64 dim: 3 dim: 224 dim: 224 }");
    proto::BlobShape shape;
    for (const std::uint32_t dim : {p.num(0), p.channels(0), p.height(0), p.width(0)}) shape.add_dim(dim);
    take_shape(shape, at);
  }
  void read_data() {
    data_.kind = CaffeSource::described;
    if (parameter_.input_param().shape_size() > 0)
      take_shape(parameter_.input_param().shape(0), location_.at("input_param").at("shape"));
  }
  void take_shape(const proto::BlobShape& shape, const PrototxtLocation& at) {
    const bool sized = std::all_of(shape.dim().begin(), shape.dim().end(),
                                   [](std::int64_t dim) { return dim >= 1 && dim <= largest_side; });
    if (shape.dim_size() != 4 || !sized) {
      refuse(
          at,
          fmt::format("has a shape of {} dims; four from 1 to {} are needed: images, channels, height, width",
                      shape.dim_size(), largest_side),
          "shape { dim: 64 dim: 3 dim: 224 dim: 224 }");
      return;
    }
    data_.batch_size = static_cast<int>(shape.dim(0));
    data_.shape =
        Shape{static_cast<int>(shape.dim(1)), static_cast<int>(shape.dim(2)), static_cast<int>(shape.dim(3))};
  }

  void read_transform() {
    const proto::TransformationParameter& p = parameter_.transform_param();
    const PrototxtLocation at = location_.at("transform_param");
    CaffeTransform& t = data_.transform;
    t.scale = widen(p.scale());
    t.mirror = p.mirror();
    t.mean_file = p.mean_file();
    for (const float value : p.mean_value()) t.mean_values.push_back(widen(value));
    t.crop = {bounded(p.has_crop_h() ? p.crop_h() : p.crop_size()),
              bounded(p.has_crop_w() ? p.crop_w() : p.crop_size())};
    if (p.force_color()) data_.channels = 3;
    if (p.force_gray()) data_.channels = 1;
    if (p.force_color() && p.force_gray())
      refuse(at.at("force_gray"), "forces color and gray", "force_color: true   # alone");
    if (p.has_mean_file() && p.mean_value_size() > 0)
      refuse(at.at("mean_value"), "has a mean_file and mean_value; Caffe takes one of them",
             "mean_value: 104   # alone");
    if ((t.crop.height == 0) != (t.crop.width == 0))
      refuse(at.at("crop_h"), "has only one of crop_h and crop_w", "crop_size: 224");
  }

  const proto::LayerParameter& parameter_;
  const PrototxtLocation& location_;
  const std::string& owner_;
  CaffeReport& report_;
  CaffeData data_;
};

}  // namespace

std::string_view name_of(CaffeSource kind) {
  switch (kind) {
    case CaffeSource::lmdb:
      return "LMDB";
    case CaffeSource::leveldb:
      return "LevelDB";
    case CaffeSource::list:
      return "list";
    case CaffeSource::invented:
      return "DummyData";
    case CaffeSource::described:
      return "Input";
    case CaffeSource::other:
      break;
  }
  return "other";
}

CaffeData read_data_layer(const LocatedLayer& layer, CaffeReport& report) {
  return DataLayerReader(layer, report).read();
}

void check_loss(const LocatedLayer& loss, CaffeReport& report) {
  using Loss = proto::LossParameter;
  const proto::LayerParameter& p = loss.parameter;
  const auto mode = p.loss_param().normalization();
  if (mode == Loss::NONE || mode == Loss::PRE_FIXED)
    report.refuse(loss.location.at("loss_param").at("normalization").text(),
                  fmt::format("{}normalizes by {}; ddl-train supports only the batch", loss.owner,
                              Loss::NormalizationMode_Name(mode)),
                  "normalization: VALID");
  for (int i = 0; i < p.loss_weight_size(); ++i) {
    if (p.loss_weight(i) == 1.0F) continue;
    report.refuse(
        loss.location.at("loss_weight", i).text(),
        fmt::format("{}has a loss_weight of {}; ddl-train supports only 1", loss.owner, p.loss_weight(i)),
        "loss_weight: 1   # and multiply base_lr");
  }
}

}  // namespace ddlrun::runtime
