// SPDX-License-Identifier: MIT
// Images as files hold them: JPEG, PNG and PNM by their first bytes, not by their names. Colours come out
// as OpenCV reads them, which is how Caffe saw them: planes blue, green, red; turned as EXIF says; alpha
// dropped; of 16 bits the upper 8.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Rows of pixels, each pixel's channels together: 1 grey, 3 red-green-blue.
struct Image {
  int channels = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
};

// More is refused: 3 x 100 million bytes are unpacked at once.
constexpr std::uint64_t max_image_pixels = 100'000'000;

// What the head of a file says, as it will be decoded: `channels` 1 only if the file is grey. Throws
// Error(request) with `name`, as decode_image().
Shape read_image_shape(std::span<const std::uint8_t> file, std::string_view name);
// `channels` 1 or 3. Damaged, cut short and huge images are refused.
Image decode_image(std::span<const std::uint8_t> file, int channels, std::string_view name);

// Bilinear, as OpenCV's INTER_LINEAR: no smoothing where it shrinks.
Image resize_image(const Image& image, Sides size);
// Planes: grey, or blue, green, red.
void write_planes(const Image& image, std::span<std::uint8_t> out);

}  // namespace ddlrun::runtime
