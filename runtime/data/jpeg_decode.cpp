// SPDX-License-Identifier: MIT
// JPEG by libjpeg(-turbo). Its errors leave by longjmp, so what must be destroyed lives outside of the calls.
#include "runtime/data/image_formats.hpp"

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

struct JpegErrors {
  jpeg_error_mgr base;  // first: libjpeg knows only this part
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave_jpeg(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  errors->base.format_message(info, errors->text);
  std::longjmp(errors->back, 1);  // NOLINT(cert-err52-cpp): libjpeg's way out
}

// After most warnings pixels are missing or wrong: libjpeg would fill up with grey. These do no harm.
void judge_jpeg_warning(j_common_ptr info, int level) {
  if (level >= 0) return;  // talk
  switch (info->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_TOO_MUCH_DATA:
      break;
    default:
      leave_jpeg(info);
  }
}

// Each scan of a progressive JPEG visits the whole image, and a small file can hold thousands of scans.
// Encoders write about ten: `usual_scans` are accepted for every size, and more while scans x pixels take
// about a second.
constexpr std::uint64_t usual_scans = 20, most_scans = 500, most_scanned_pixels = 200'000'000;

struct JpegScans {
  jpeg_progress_mgr base;  // first: libjpeg knows only this part
  int limit;
  bool too_many;
};

void count_scans(j_common_ptr info) {
  auto* scans = reinterpret_cast<JpegScans*>(info->progress);
  scans->too_many = reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > scans->limit;
  if (scans->too_many)
    std::longjmp(reinterpret_cast<JpegErrors*>(info->err)->back, 1);  // NOLINT(cert-err52-cpp)
}

class JpegReader {
 public:
  JpegReader(std::span<const std::uint8_t> file, std::string_view name) : file_(file), name_(name) {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = leave_jpeg;
    errors_.base.emit_message = judge_jpeg_warning;
    errors_.text[0] = '\0';
    scans_.base.progress_monitor = count_scans;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Shape read_head() {
    if (!try_head()) throw refuse();
    check_image_size(info_.image_height, info_.image_width, name_);
    return {info_.num_components == 1 ? 1 : 3, static_cast<int>(info_.image_height),
            static_cast<int>(info_.image_width)};
  }

  // After read_head(). CMYK and YCCK come out as four channels, all others as `channels` or grey.
  Image read_pixels(int channels) {
    choose_colours(channels);
    limit_scans();
    const std::size_t row =
        static_cast<std::size_t>(info_.image_width) * static_cast<std::size_t>(components_);
    Image image{components_, static_cast<int>(info_.image_height), static_cast<int>(info_.image_width),
                std::vector<std::uint8_t>(row * info_.image_height)};
    if (!try_pixels(image.pixels.data(), row)) throw refuse();
    return image;
  }

  bool inverted() const { return info_.saw_Adobe_marker != 0; }

 private:
  Error refuse() const {
    if (scans_.too_many) {
      return refuse_image(name_, fmt::format("the JPEG has more than {} scans, the limit for {}x{} pixels",
                                             scans_.limit, info_.image_width, info_.image_height));
    }
    return refuse_image(name_, fmt::format("the JPEG is damaged or cut short: {}", errors_.text));
  }

  bool try_head() {
    if (setjmp(errors_.back) != 0) return false;  // NOLINT(cert-err52-cpp)
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, file_.data(), static_cast<unsigned long>(file_.size()));
    return jpeg_read_header(&info_, TRUE) == JPEG_HEADER_OK;
  }

  void limit_scans() {
    const std::uint64_t pixels = std::uint64_t{info_.image_width} * info_.image_height;
    scans_.limit = static_cast<int>(std::clamp(most_scanned_pixels / pixels, usual_scans, most_scans));
    info_.progress = &scans_.base;
  }

  void choose_colours(int channels) {
    const bool four = info_.num_components == 4;
    const bool grey = info_.num_components == 1 ||
                      (channels == 1 && info_.jpeg_color_space == JCS_YCbCr);  // its first plane is the grey
    info_.out_color_space = four ? JCS_CMYK : grey ? JCS_GRAYSCALE : JCS_RGB;
    components_ = four ? 4 : grey ? 1 : 3;
    info_.dct_method = JDCT_ISLOW;
  }

  bool try_pixels(std::uint8_t* to, std::size_t row) {
    if (setjmp(errors_.back) != 0) return false;  // NOLINT(cert-err52-cpp)
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW line = to + static_cast<std::size_t>(info_.output_scanline) * row;
      jpeg_read_scanlines(&info_, &line, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  std::span<const std::uint8_t> file_;
  std::string_view name_;
  jpeg_decompress_struct info_{};
  JpegErrors errors_{};
  JpegScans scans_{};
  int components_ = 0;
};

// Adobe's programs store ink as 255 - ink; without their marker it is taken as it is.
Image without_ink(const Image& inks, bool inverted) {
  const std::size_t count = inks.pixels.size() / 4;
  Image rgb{3, inks.height, inks.width, std::vector<std::uint8_t>(3 * count)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* in = &inks.pixels[4 * i];
    const unsigned flip = inverted ? 0U : 255U;
    for (std::size_t c = 0; c < 3; ++c)
      rgb.pixels[3 * i + c] = static_cast<std::uint8_t>(((in[c] ^ flip) * (in[3] ^ flip) + 127U) / 255U);
  }
  return rgb;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> file) {
  return file.size() >= 3 && file[0] == 0xff && file[1] == 0xd8 && file[2] == 0xff;
}

Shape read_jpeg_shape(std::span<const std::uint8_t> file, std::string_view name) {
  Shape shape = JpegReader(file, name).read_head();
  if (read_orientation(file) >= 5) std::swap(shape.height, shape.width);
  return shape;
}

Image decode_jpeg(std::span<const std::uint8_t> file, int channels, std::string_view name) {
  JpegReader reader(file, name);
  reader.read_head();
  Image image = reader.read_pixels(channels);
  if (image.channels == 4) image = without_ink(image, reader.inverted());
  return orient_image(std::move(image), read_orientation(file));
}

}  // namespace ddlrun::runtime
