// SPDX-License-Identifier: MIT
// PNG by libpng. Its errors leave by longjmp, so what must be destroyed lives outside of the calls.
#include "runtime/data/image_formats.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t png_mark_size = 8;

struct PngInput {
  std::span<const std::uint8_t> rest;
  char text[128];
};

[[noreturn]] void leave_png(png_structp png, png_const_charp text) {
  auto* input = static_cast<PngInput*>(png_get_error_ptr(png));
  std::strncpy(input->text, text, sizeof input->text - 1);
  png_longjmp(png, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

void feed_png(png_structp png, png_bytep out, std::size_t length) {
  auto* input = static_cast<PngInput*>(png_get_io_ptr(png));
  if (length > input->rest.size()) png_error(png, "it is cut short");
  std::copy_n(input->rest.begin(), length, out);
  input->rest = input->rest.subspan(length);
}

class PngReader {
 public:
  PngReader(std::span<const std::uint8_t> file, std::string_view name) : name_(name) {
    input_.rest = file;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &input_, leave_png, ignore_png_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error(ErrorKind::internal, {"cannot initialize libpng", std::string(name), "free -m"});
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Shape read_head() {
    if (!try_head()) throw refuse();
    const std::uint32_t height = png_get_image_height(png_, info_);
    const std::uint32_t width = png_get_image_width(png_, info_);
    check_image_size(height, width, name_);
    const bool grey = (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0;
    return {grey ? 1 : 3, static_cast<int>(height), static_cast<int>(width)};
  }

  // After read_head().
  Image read_pixels(const Shape& shape) {
    if (!try_settings()) throw refuse();
    const std::size_t row = png_get_rowbytes(png_, info_);
    const auto channels = static_cast<std::size_t>(shape.channels);
    if (row != channels * static_cast<std::size_t>(shape.width)) throw refuse();
    Image image{shape.channels, shape.height, shape.width,
                std::vector<std::uint8_t>(row * static_cast<std::size_t>(shape.height))};
    std::vector<png_bytep> rows;
    for (int y = 0; y < shape.height; ++y)
      rows.push_back(image.pixels.data() + static_cast<std::size_t>(y) * row);
    if (!try_pixels(rows.data())) throw refuse();
    return image;
  }

 private:
  Error refuse() const {
    return refuse_image(name_, fmt::format("the PNG is damaged or cut short: {}",
                                           input_.text[0] == '\0' ? "unexpected row length" : input_.text));
  }

  bool try_head() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_user_limits(png_, 65'535, 65'535);
    png_set_chunk_malloc_max(png_, 8'000'000);
    png_set_read_fn(png_, &input_, feed_png);
    png_read_info(png_, info_);
    return true;
  }

  // Everything becomes 8 bits of grey or of red, green and blue.
  bool try_settings() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_packing(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool try_pixels(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  std::string_view name_;
  PngInput input_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

bool is_png(std::span<const std::uint8_t> file) {
  return file.size() >= png_mark_size && png_sig_cmp(file.data(), 0, png_mark_size) == 0;
}

Shape read_png_shape(std::span<const std::uint8_t> file, std::string_view name) {
  return PngReader(file, name).read_head();
}

Image decode_png(std::span<const std::uint8_t> file, std::string_view name) {
  PngReader reader(file, name);
  const Shape shape = reader.read_head();
  return reader.read_pixels(shape);
}

}  // namespace ddlrun::runtime
