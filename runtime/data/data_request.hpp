// SPDX-License-Identifier: MIT
// What a user, or one of Caffe's files, says about the images: where they are and what happens to them.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Whose images a rank has: all that there are, or its host's or its own part.
enum class ShardBy { none, host, rank };

struct DataRequest {
  std::string train;  // a directory, an LMDB, a list of files, synthetic:...; what it is, is seen by looking
  std::string test;   // "": found beside the training images
  std::string root;   // before the names in a list; "": the list's own directory

  ShardBy sharding = ShardBy::none;
  int channels = 0;  // of decoded images: 1 grey, 3 blue-green-red as OpenCV; 0: as the first ones are
  Sides resize;      // of decoded images, 0: as they are
  int classes = 0;   // 0: the largest label and 1
  std::size_t memory = std::size_t{256} << 20U;  // larger sets are read from disk while training

  // Without scale, mean and mean_file: mean 0 and deviation 1 in each channel, over the training images. With
  // any of them exactly (x - mean) * scale, as Caffe: what is not said is 0 and 1.
  Sides crop;  // 0: none
  bool mirror = false;
  std::optional<float> scale;
  std::vector<float> mean;  // one, or one a channel
  std::string mean_file;    // Caffe's binaryproto
  bool plain = false;  // as if --scale 1 were said: for Caffe's files, which say nothing where they mean 1
};

}  // namespace ddlrun::runtime
