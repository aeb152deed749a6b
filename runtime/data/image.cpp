// SPDX-License-Identifier: MIT
#include "runtime/data/image.hpp"

#include "base/text/text.hpp"
#include "runtime/data/image_files.hpp"
#include "runtime/data/image_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

std::size_t pixel_count(const Image& image) {
  return static_cast<std::size_t>(image.height) * static_cast<std::size_t>(image.width);
}

// By ITU-R BT.601, in whole numbers as libjpeg and OpenCV do it.
std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((19'595U * rgb[0] + 38'470U * rgb[1] + 7'471U * rgb[2] + 32'768U) >> 16U);
}

Image with_channels(Image image, int channels) {
  if (image.channels == channels) return image;
  const std::size_t count = pixel_count(image);
  Image other{channels, image.height, image.width,
              std::vector<std::uint8_t>(count * static_cast<std::size_t>(channels))};
  for (std::size_t i = 0; i < count; ++i) {
    if (channels == 1) {
      other.pixels[i] = luma(&image.pixels[3 * i]);
    } else {
      std::fill_n(&other.pixels[3 * i], 3, image.pixels[i]);
    }
  }
  return other;
}

// The name of another image format by the first bytes of a file; "" for any other bytes.
std::string_view name_foreign_format(std::string_view start) {
  if (start.starts_with("RIFF") && start.substr(8).starts_with("WEBP")) return "a WebP image";
  if (start.starts_with("II*") || start.starts_with(std::string_view("MM\0*", 4))) return "a TIFF image";
  if (start.starts_with("GIF8")) return "a GIF image";
  if (start.starts_with("BM")) return "a BMP image";
  if (start.substr(4).starts_with("ftyp")) return "an image of a HEIC, AVIF or video file";
  return "";
}

Error refuse_format(std::span<const std::uint8_t> file, std::string_view name) {
  if (file.empty()) return refuse_image(name, "the file is empty");
  const auto head = file.first(std::min<std::size_t>(file.size(), 16));
  const std::string start(head.begin(), head.end());
  if (start.size() == 16) {
    if (const std::string_view format = name_foreign_format(start); !format.empty())
      return {ErrorKind::request,
              {fmt::format("not a JPEG, PNG or PNM file: it is {}", format), printable(name),
               convert_images_hint(quote_shell(name))}};
  }
  std::string bytes;
  for (const std::uint8_t byte : head.first(std::min<std::size_t>(head.size(), 4)))
    bytes += fmt::format(" {:02x}", byte);
  return refuse_image(name, "not a JPEG, PNG or PNM file: it starts with" + bytes);
}

}  // namespace

Error refuse_image(std::string_view name, std::string what) {
  return {ErrorKind::request,
          {std::move(what), printable(name),
           "remove this image, or save it again; ddl-train read-data DIR --all lists all that are damaged"}};
}

void check_image_size(std::uint64_t height, std::uint64_t width, std::string_view name) {
  constexpr std::uint64_t longest_side = 65'535;
  if (height > 0 && width > 0 && height <= longest_side && width <= longest_side &&
      height * width <= max_image_pixels)
    return;
  throw refuse_image(
      name, fmt::format("the image has {}x{} pixels; the limits are sides of 1 to {} and {} pixels in all",
                        height, width, longest_side, max_image_pixels));
}

Shape read_image_shape(std::span<const std::uint8_t> file, std::string_view name) {
  if (is_jpeg(file)) return read_jpeg_shape(file, name);
  if (is_png(file)) return read_png_shape(file, name);
  if (is_pnm(file)) return read_pnm_shape(file, name);
  throw refuse_format(file, name);
}

Image decode_image(std::span<const std::uint8_t> file, int channels, std::string_view name) {
  if (is_jpeg(file)) return with_channels(decode_jpeg(file, channels, name), channels);
  if (is_png(file)) return with_channels(decode_png(file, name), channels);
  if (is_pnm(file)) return with_channels(decode_pnm(file, name), channels);
  throw refuse_format(file, name);
}

void write_planes(const Image& image, std::span<std::uint8_t> out) {
  const std::size_t count = pixel_count(image);
  if (image.channels == 1) {
    std::copy_n(image.pixels.begin(), count, out.begin());
    return;
  }
  const std::uint8_t* __restrict rgb = image.pixels.data();
  std::uint8_t* __restrict blue = out.data();
  std::uint8_t* __restrict green = blue + count;
  std::uint8_t* __restrict red = green + count;
  for (std::size_t i = 0; i < count; ++i) {
    red[i] = rgb[3 * i];
    green[i] = rgb[3 * i + 1];
    blue[i] = rgb[3 * i + 2];
  }
}

}  // namespace ddlrun::runtime
