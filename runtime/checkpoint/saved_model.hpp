// SPDX-License-Identifier: MIT
// What a checkpoint holds for use without its training: the net, the way from an image file to the net's
// input, the names of the classes.
#pragma once

#include "runtime/checkpoint/checkpoint_directory.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/models/net.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// Metadata: "net_yaml"; "image_channels", "image_size" (CxHxW before the crop), "image_resize", "image_crop"
// (HxW, "" for none), "image_mean", "image_scale" (numbers joined by commas: one, one for each channel, or
// one for each pixel; (x - mean) * scale); "classes" (a number); "class_names" (joined by '/', "" if
// unknown).
Metadata render_model(const Net& net, const Dataset& data, const DataRequest& request);

struct SavedModel {
  Net net;
  DataRequest images;                    // channels and size of decoded images; crop
  Shape decoded;                         // of an image before the crop
  Transform transform;                   // crop, mean and scale
  std::string test_data;                 // the test images of the training; "" if unknown
  std::string test_root;                 // where the names of their list begin; "" for no list
  std::vector<std::string> class_names;  // one for each class: "0", "1" where the images had no names

  std::string file;                  // of the checkpoint
  std::vector<std::string> skipped;  // why newer ones of its directory were not read, one line each

  std::vector<float> parameters;  // [net.parameter_count]
  std::vector<float> state;       // [net.state_count]

  // Of `logits`, the outputs of the net for some images, those of the classes. A net may have more outputs:
  // Caffe's LeNet has 10 also for 4 classes. They were never trained to be right, so they count for nothing.
  std::vector<float> of_classes(std::span<const float> logits) const;
};

// `path`: a checkpoint, the file `best` or `latest` that names one, or a directory of them, of which the
// newest intact one is read. Throws Error(request) where there is none, or where it contains no net (of an
// older ddl-train). `reader`: the command that reads it, for hints; its checkpoint stands at "{}", as in
// "ddl-train test {} --data photos".
SavedModel load_model(const CheckpointDisk& disk, const std::string& path, const std::string& reader);

// The probabilities by these outputs of a net: their softmax.
std::vector<double> class_shares(std::span<const float> logits);

}  // namespace ddlrun::runtime
