// SPDX-License-Identifier: MIT
// The decoders behind image.hpp, one file per format; only jpeg_*.cpp and png_*.cpp include their libraries.
#pragma once

#include "base/text/error.hpp"
#include "runtime/data/image.hpp"

namespace ddlrun::runtime {

bool is_jpeg(std::span<const std::uint8_t> file);
bool is_png(std::span<const std::uint8_t> file);
bool is_pnm(std::span<const std::uint8_t> file);

// Grey images stay grey; the caller converts them.
Shape read_jpeg_shape(std::span<const std::uint8_t> file, std::string_view name);
Shape read_png_shape(std::span<const std::uint8_t> file, std::string_view name);
Shape read_pnm_shape(std::span<const std::uint8_t> file, std::string_view name);
Image decode_jpeg(std::span<const std::uint8_t> file, int channels, std::string_view name);
Image decode_png(std::span<const std::uint8_t> file, std::string_view name);
Image decode_pnm(std::span<const std::uint8_t> file, std::string_view name);

// EXIF tag 274 of a JPEG: 1 to 8; 1 (unchanged) if it is missing or unreadable.
int read_orientation(std::span<const std::uint8_t> file);
// Applies an EXIF orientation: 2 mirrored, 3 upside down, 6 rotated clockwise, ...
Image orient_image(Image image, int orientation);

// Throws Error(request) if a side is 0 or there are too many pixels.
void check_image_size(std::uint64_t height, std::uint64_t width, std::string_view name);
Error refuse_image(std::string_view name, std::string what);

}  // namespace ddlrun::runtime
