// SPDX-License-Identifier: MIT
// Reads one Caffe layer: its role and its parameters.
#pragma once

#include "runtime/caffe/caffe_data.hpp"
#include "runtime/caffe/prototxt_protobuf.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// A layer as today's Caffe writes it, and where it is written.
struct LocatedLayer {
  caffe_files::LayerParameter parameter;
  PrototxtLocation location;
  std::string owner;  // "layer conv1: ", for messages

  LocatedLayer(caffe_files::LayerParameter layer, PrototxtLocation where);
};

enum class LayerRole {
  compute,   // has a LayerKind
  data,      // gives images and labels
  alias,     // Split, Flatten: the same values
  scale,     // the affine part of the batch norm before it
  softmax,   // probabilities: observed only
  loss,      // SoftmaxWithLoss
  accuracy,  // observed in tests
  silence,   // nothing
  refused,   // unsupported
};

// Reports unknown and unsupported types.
LayerRole find_role(const LocatedLayer& layer, CaffeReport& report);

// Removes fields of other layer types, which Caffe ignores as well.
void drop_foreign_fields(LocatedLayer& layer, CaffeReport& report);

// Of a layer that computes, without name and inputs.
Layer read_computing_layer(const LocatedLayer& layer, CaffeReport& report);
// Makes `norm` the batch norm that is scaled by `scale`.
void add_scale(const LocatedLayer& scale, Layer& norm, CaffeReport& report);
// Losses: what makes another loss than the mean over the batch is refused.
void check_loss(const LocatedLayer& loss, CaffeReport& report);
CaffeData read_data_layer(const LocatedLayer& layer, CaffeReport& report);

Filler read_filler(const caffe_files::FillerParameter& filler, const PrototxtLocation& location,
                   const std::string& owner, std::size_t fan_out, CaffeReport& report);

// The layers of a net in today's form: old ones are upgraded as Caffe does.
std::vector<LocatedLayer> list_layers(const caffe_files::NetParameter& net, const PrototxtLocation& location,
                                      CaffeReport& report);

}  // namespace ddlrun::runtime
