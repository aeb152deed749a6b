// SPDX-License-Identifier: MIT
// Request for images: where they are and how to transform them, from options or from Caffe's files.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// How images are distributed: all ranks read the same ones, or each host or rank has its own.
enum class ShardBy { none, host, rank };

struct DataRequest {
  std::string train;  // a directory, an LMDB, a list of files or synthetic:...; the format is detected
  std::string test;   // "": found beside the training images
  std::string root;   // prefix of the names in a list; "": the directory of the list

  double val_fraction = 0.0;  // of the files at `train`, by the hash of their names: the test images

  ShardBy sharding = ShardBy::none;
  int channels = 0;  // of decoded images: 1 grey, 3 blue-green-red as OpenCV; 0: as the first ones are
  Sides resize;      // of decoded images, 0: as they are
  int classes = 0;   // 0: the largest label plus 1
  std::size_t memory = std::size_t{256} << 20U;  // larger sets are read from disk while training

  // Without scale, mean and mean_file: normalizes each channel to mean 0 and deviation 1 over the training
  // images. With any of them: exactly (x - mean) * scale, as Caffe; missing values are 0 and 1.
  Sides crop;  // 0: none
  bool mirror = false;
  std::optional<float> scale;
  std::vector<float> mean;  // one, or one a channel
  std::string mean_file;    // Caffe's binaryproto
  bool plain = false;       // as --scale 1: for Caffe's files, where 1 is the default
};

}  // namespace ddlrun::runtime
