// SPDX-License-Identifier: MIT
// What each field of Caffe's files means for a run of ddl-train.
#include "base/text/text.hpp"
#include "runtime/caffe/prototxt_protobuf.hpp"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ddlrun::runtime {
namespace {

namespace pb = google::protobuf;

// honoured: read elsewhere. harmless: results do not depend on it. All others: only Caffe's default will do.
struct KnownFields {
  const char* type;
  const char* honoured;
  const char* harmless;
};
constexpr KnownFields known_fields[] = {
    {"SolverParameter",
     "net net_param train_net train_net_param test_net test_net_param train_state test_state test_iter "
     "test_interval base_lr lr_policy gamma power stepsize stepvalue warmup_iter warmup_start_lr "
     "local_lr_auto "
     "local_gw_ratio max_iter iter_size type momentum momentum2 rms_decay delta weight_decay "
     "regularization_type "
     "clip_gradients random_seed solver_type snapshot snapshot_prefix solver_mode",
     "test_compute_loss test_initialization ap_version show_per_class_result display average_loss debug_info "
     "snapshot_diff snapshot_format snapshot_after_train device_id engine layer_wise_reduce"},
    {"NetState", "phase level stage", ""},
    {"NetStateRule", "phase min_level max_level stage not_stage", ""},
    {"NetParameter", "name layer layers input input_shape input_dim state",
     "force_backward debug_info engine compile_net_state multinode"},
    {"ParamSpec", "name lr_mult decay_mult", "share_mode"},
    {"LayerParameter",
     "name type bottom top loss_weight param propagate_down include exclude transform_param loss_param "
     "accuracy_param batch_norm_param concat_param convolution_param data_param dropout_param "
     "dummy_data_param "
     "eltwise_param flatten_param image_data_param inner_product_param input_param lrn_param pooling_param "
     "relu_param scale_param softmax_param split_param",
     "phase engine multinode mn_activation_param mn_grad_compress_param mn_param"},
    {"V1LayerParameter",
     "name type bottom top include exclude param blobs_lr weight_decay loss_weight transform_param "
     "loss_param "
     "accuracy_param concat_param convolution_param data_param dropout_param dummy_data_param eltwise_param "
     "image_data_param inner_product_param lrn_param pooling_param relu_param softmax_param",
     "blob_share_mode"},
    {"FillerParameter", "type value min max mean std variance_norm", ""},
    {"TransformationParameter",
     "scale mirror crop_size crop_h crop_w mean_file mean_value force_color force_gray", ""},
    {"DataParameter",
     "source batch_size backend scale mean_file crop_size mirror force_encoded_color shuffle",
     "rand_skip prefetch"},
    {"ImageDataParameter",
     "source batch_size shuffle new_height new_width is_color scale mean_file crop_size mirror "
     "root_directory",
     "rand_skip"},
    {"DummyDataParameter", "shape num channels height width", "data_filler"},
    {"InputParameter", "shape", ""},
    {"BlobShape", "dim", ""},
    {"LossParameter", "normalization normalize", ""},
    {"AccuracyParameter", "top_k", ""},
    {"BatchNormParameter",
     "use_global_stats moving_average_fraction eps use_weight_bias bias_term filler bias_filler", "engine"},
    {"ConcatParameter", "", "engine"},
    {"ConvolutionParameter",
     "num_output bias_term pad kernel_size stride dilation pad_h pad_w kernel_h kernel_w stride_h stride_w "
     "group "
     "weight_filler bias_filler",
     "engine force_nd_im2col conv_algorithm"},
    {"DropoutParameter", "dropout_ratio", ""},
    {"EltwiseParameter", "coeff", "engine stable_prod_grad"},
    {"FlattenParameter", "", ""},
    {"InnerProductParameter", "num_output bias_term weight_filler bias_filler", "engine transpose"},
    {"LRNParameter", "local_size alpha beta k", "engine"},
    {"PoolingParameter",
     "pool pad kernel_size stride pad_h pad_w kernel_h kernel_w stride_h stride_w global_pooling round_mode",
     "engine"},
    {"ReLUParameter", "negative_slope", "engine fuse"},
    {"ScaleParameter", "filler bias_term bias_filler", ""},
    {"SoftmaxParameter", "", "engine"},
    {"SplitParameter", "", "engine"},
};

bool lists_word(const char* words, const std::string& word) {
  const std::vector<std::string_view> all = split(words, ' ');
  return std::find(all.begin(), all.end(), word) != all.end();
}

// A value as prototxt writes it; "" for a message.
std::string render_value(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
  std::string text;
  if (field.message_type() == nullptr) pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  return text;
}

class FieldCheck {
 public:
  FieldCheck(const std::string& owner, CaffeReport& report) : owner_(owner), report_(report) {}

  void check(const pb::Message& message, const PrototxtLocation& location) {
    const std::string& type = message.GetDescriptor()->name();
    const auto* row = std::find_if(std::begin(known_fields), std::end(known_fields),
                                   [&](const KnownFields& each) { return each.type == type; });
    if (row == std::end(known_fields)) return;  // an Unread, or numbers of tensors
    std::vector<const pb::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const pb::FieldDescriptor* field : fields) check_field(*row, message, *field, location);
  }

 private:
  void check_field(const KnownFields& row, const pb::Message& message, const pb::FieldDescriptor& field,
                   const PrototxtLocation& location) {
    const pb::Reflection& reflection = *message.GetReflection();
    const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
    const bool honoured = lists_word(row.honoured, field.name());
    if (!honoured && lists_word(row.harmless, field.name())) {
      report_.unused[field.name()] += 1;
      return;
    }
    for (int i = 0; i < count; ++i) {
      const PrototxtLocation at = location.at(field.name(), i);
      if (!honoured) {
        check_default(message, field, at);
      } else if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_FLOAT) {
        const float value = field.is_repeated() ? reflection.GetRepeatedFloat(message, &field, i)
                                                : reflection.GetFloat(message, &field);
        if (!std::isfinite(value))
          refuse(at, field, fmt::format("is {}, which is not a number", value), "0.01");
      } else if (field.message_type() != nullptr && !is_layer(field)) {
        check(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, i)
                                  : reflection.GetMessage(message, &field),
              at);
      }
    }
  }

  // Layers are checked one by one, and only those that a phase has.
  static bool is_layer(const pb::FieldDescriptor& field) {
    const std::string& type = field.message_type()->name();
    return type == "LayerParameter" || type == "V1LayerParameter" || type == "NetParameter";
  }

  void check_default(const pb::Message& message, const pb::FieldDescriptor& field,
                     const PrototxtLocation& at) {
    if (field.is_repeated() || field.message_type() != nullptr || !field.has_default_value()) {
      refuse(at, field, "is a field of Caffe that ddl-train does not support", "");
      return;
    }
    const std::unique_ptr<pb::Message> fresh(message.New());
    const std::string is = render_value(message, field, -1);
    const std::string wanted = render_value(*fresh, field, -1);
    if (is == wanted) return;
    refuse(at, field,
           fmt::format("is {}; ddl-train supports only Caffe's default, {}", printable(is), wanted), wanted);
  }

  void refuse(const PrototxtLocation& at, const pb::FieldDescriptor& field, const std::string& what,
              const std::string& value) {
    report_.refuse(at.text(), fmt::format("{}{} {}", owner_, field.name(), what),
                   value.empty() ? fmt::format("# {}   # remove it, if the result may differ", field.name())
                                 : fmt::format("{}: {}", field.name(), value));
  }

  const std::string& owner_;
  CaffeReport& report_;
};

}  // namespace

void check_known_fields(const pb::Message& message, const PrototxtLocation& location,
                        const std::string& owner, CaffeReport& report) {
  FieldCheck(owner, report).check(message, location);
}

}  // namespace ddlrun::runtime
