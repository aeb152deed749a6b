// SPDX-License-Identifier: MIT
// Transform of an image between source and net, in Caffe's order: crop, mirror, (x - mean) * scale. The
// random part depends only on seed, step and image, so it is the same for any number of ranks and threads and
// after a resume.
#pragma once

#include "base/text/error.hpp"
#include "runtime/data/image_source.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ddlrun::runtime {

struct Transform {
  Sides crop;               // 0: as they are
  bool mirror = false;      // half of the training images
  std::vector<float> mean;  // one for all, one a channel, or one a pixel of the uncropped image; empty: 0
  std::vector<float> scale{1.0F};  // one for all, or one a channel

  // Shape of the result for images of `shape`.
  Shape output(const Shape& shape) const;
};

// All errors: a crop larger than the images, a wrong number of means or scales. Empty: valid.
std::vector<Message> check_transform(const Transform& transform, const Shape& shape);

// Crop and mirroring of one image.
struct CropWindow {
  int top = 0;
  int left = 0;
  bool mirrored = false;
  bool operator==(const CropWindow&) const = default;
};
// random_crop: for training, anywhere, possibly mirrored. center_crop: for testing.
CropWindow random_crop(const Transform& transform, const Shape& shape, std::uint64_t seed, std::uint64_t step,
                       std::uint64_t image);
CropWindow center_crop(const Transform& transform, const Shape& shape);

// `image`: planes [C, H, W] of `shape`, bytes or floats. `out`: transform.output(shape).count() floats.
void apply_transform(const Transform& transform, const CropWindow& view, const Shape& shape,
                     std::span<const std::uint8_t> image, std::span<float> out);
void apply_transform(const Transform& transform, const CropWindow& view, const Shape& shape,
                     std::span<const float> image, std::span<float> out);

}  // namespace ddlrun::runtime
