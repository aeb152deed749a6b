// SPDX-License-Identifier: MIT
// How a camera was held: EXIF's orientation tag, and what to do about it.
#include "runtime/data/image_formats.hpp"

#include <algorithm>
#include <optional>

namespace ddlrun::runtime {
namespace {

// A TIFF header and its first directory: what EXIF's APP1 segment holds.
class TiffView {
 public:
  explicit TiffView(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    if (bytes.size() >= 2) little_endian_ = bytes[0] == 'I' && bytes[1] == 'I';
  }
  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = (value << 8U) | bytes_[at + (little_endian_ ? size - 1 - i : i)];
    return value;
  }
  int orientation() const {
    constexpr std::uint32_t orientation_tag = 274;
    const auto magic = number(2, 2);
    const auto directory = number(4, 4);
    if (magic != 42U || !directory) return 1;
    const std::uint32_t entries = number(*directory, 2).value_or(0);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const std::size_t at = std::size_t{*directory} + 2 + std::size_t{12} * i;
      const auto tag = number(at, 2);
      if (!tag) return 1;
      if (*tag != orientation_tag) continue;
      const std::uint32_t value = number(at + 8, 2).value_or(1);
      return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool little_endian_ = false;
};

}  // namespace

int read_orientation(std::span<const std::uint8_t> file) {
  static constexpr std::uint8_t exif_mark[] = {'E', 'x', 'i', 'f', 0, 0};
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == 0xff) {
    const std::uint8_t marker = file[at + 1];
    if (marker == 0xff) {  // padding
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) break;  // the pixels begin
    const std::size_t length = (std::size_t{file[at + 2]} << 8U) | file[at + 3];
    if (length < 2 || length > file.size() - at - 2) break;
    const auto segment = file.subspan(at + 4, length - 2);
    if (marker == 0xe1 && segment.size() > std::size(exif_mark) &&
        std::equal(std::begin(exif_mark), std::end(exif_mark), segment.begin()))
      return TiffView(segment.subspan(std::size(exif_mark))).orientation();
    at += 2 + length;
  }
  return 1;
}

Image orient_image(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool swapped = orientation >= 5;
  const bool flip_row = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool flip_column = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const auto channels = static_cast<std::size_t>(image.channels);
  const int height = swapped ? image.width : image.height;
  const int width = swapped ? image.height : image.width;
  Image out{image.channels, height, width, std::vector<std::uint8_t>(image.pixels.size())};
  std::uint8_t* to = out.pixels.data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int v = flip_row ? height - 1 - y : y;
      const int u = flip_column ? width - 1 - x : x;
      const int row = swapped ? u : v;
      const int column = swapped ? v : u;
      const std::uint8_t* from =
          &image.pixels[(static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width) +
                         static_cast<std::size_t>(column)) *
                        channels];
      to = std::copy_n(from, channels, to);
    }
  }
  return out;
}

}  // namespace ddlrun::runtime
