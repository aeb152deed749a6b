// SPDX-License-Identifier: MIT
// What the targets of image formats share: the decoded image has the shape that the head promises.
#pragma once

#include "fuzz/fuzz_target.hpp"
#include "runtime/data/image.hpp"

namespace ddlrun::fuzz {

// At most this size is decoded: the time goes into formats, not into pixels.
constexpr std::uint64_t max_decoded_pixels = 1U << 18U;

inline void decode_any(std::string_view input) {
  using namespace runtime;
  const std::span<const std::uint8_t> file = fuzz::as_bytes(input);
  const auto shape = accepted([&] { return read_image_shape(file, "image"); });
  if (!shape) return;
  if (static_cast<std::uint64_t>(shape->height) * static_cast<std::uint64_t>(shape->width) >
      max_decoded_pixels)
    return;
  const auto image = accepted([&] { return decode_image(file, 3, "image"); });
  if (!image) return;
  require(image->height == shape->height && image->width == shape->width && image->channels == 3,
          "an image has the shape of its head");
  require(image->pixels.size() == std::size_t{3} * static_cast<std::size_t>(image->height) *
                                      static_cast<std::size_t>(image->width),
          "an image has all its pixels");
}

}  // namespace ddlrun::fuzz
