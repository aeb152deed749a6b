// SPDX-License-Identifier: MIT
// The binary PNM formats: P5 (grey) and P6 (colour), of 8 or 16 bits.
#include "runtime/data/image_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

struct PnmHead {
  Shape shape;
  std::uint32_t brightest = 0;
  std::size_t pixels_at = 0;
};

bool is_blank(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// A number behind blanks and comments; moves `at` behind it.
std::uint32_t read_pnm_number(std::span<const std::uint8_t> file, std::size_t& at, std::string_view name) {
  while (at < file.size() && (is_blank(file[at]) || file[at] == '#')) {
    if (file[at] == '#') {
      while (at < file.size() && file[at] != '\n') ++at;
    } else {
      ++at;
    }
  }
  std::uint32_t value = 0;
  const std::size_t start = at;
  for (; at < file.size() && file[at] >= '0' && file[at] <= '9' && at - start < 9; ++at)
    value = 10 * value + (file[at] - std::uint32_t{'0'});
  if (at == start) throw refuse_image(name, "the PNM header lacks width, height or maximum value");
  return value;
}

PnmHead read_pnm_head(std::span<const std::uint8_t> file, std::string_view name) {
  std::size_t at = 2;
  const std::uint32_t width = read_pnm_number(file, at, name);
  const std::uint32_t height = read_pnm_number(file, at, name);
  const std::uint32_t brightest = read_pnm_number(file, at, name);
  check_image_size(height, width, name);
  if (brightest == 0 || brightest > 65'535)
    throw refuse_image(name, fmt::format("the PNM's maximum value is {}; it must be 1 to 65535", brightest));
  return {{file[1] == '5' ? 1 : 3, static_cast<int>(height), static_cast<int>(width)}, brightest, at + 1};
}

}  // namespace

bool is_pnm(std::span<const std::uint8_t> file) {
  return file.size() >= 3 && file[0] == 'P' && (file[1] == '5' || file[1] == '6') &&
         (is_blank(file[2]) || file[2] == '#');
}

Shape read_pnm_shape(std::span<const std::uint8_t> file, std::string_view name) {
  return read_pnm_head(file, name).shape;
}

Image decode_pnm(std::span<const std::uint8_t> file, std::string_view name) {
  const PnmHead head = read_pnm_head(file, name);
  const std::size_t count = head.shape.count();
  const std::size_t bytes = head.brightest > 255 ? 2 : 1;
  const std::size_t there = file.size() - std::min(head.pixels_at, file.size());
  if (there < count * bytes)
    throw refuse_image(name, fmt::format("the PNM is cut short: {} of {} bytes", there, count * bytes));
  Image image{head.shape.channels, head.shape.height, head.shape.width, std::vector<std::uint8_t>(count)};
  const std::uint8_t* from = file.data() + head.pixels_at;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t value = bytes == 1 ? from[i] : (std::uint32_t{from[2 * i]} << 8U) | from[2 * i + 1];
    image.pixels[i] = static_cast<std::uint8_t>(
        (std::min(value, head.brightest) * 255U + head.brightest / 2) / head.brightest);
  }
  return image;
}

}  // namespace ddlrun::runtime
