// SPDX-License-Identifier: MIT
// Encoded images: JPEG, PNG and PNM, detected by their first bytes. Decoded as OpenCV does for Caffe: planes
// blue, green, red; EXIF orientation applied; alpha dropped; the upper 8 of 16 bits.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// A decoded image: rows of interleaved pixels: 1 channel grey, 3 red-green-blue.
struct Image {
  int channels = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
};

// Larger images are rejected: 3 x 100 million bytes are decoded at once.
constexpr std::uint64_t max_image_pixels = 100'000'000;

// The shape from the header of a file, as it will be decoded: 1 channel only if the file is grey. Throws
// Error(request) with `name`, as decode_image().
Shape read_image_shape(std::span<const std::uint8_t> file, std::string_view name);
// `channels`: 1 or 3. Throws Error(request) for damaged, truncated and oversized images.
Image decode_image(std::span<const std::uint8_t> file, int channels, std::string_view name);

// Bilinear, as OpenCV's INTER_LINEAR: no smoothing for smaller sizes.
Image resize_image(const Image& image, Sides size);
// Planes: grey, or blue, green, red.
void write_planes(const Image& image, std::span<std::uint8_t> out);

}  // namespace ddlrun::runtime
