// SPDX-License-Identifier: MIT
#include "runtime/data/transform.hpp"

#include "runtime/core/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

constexpr std::uint64_t augment_stream = 2'000'000'000;

// One row or plane: (x - mean) * scale with one mean, or with one for each pixel. Compiled once for any
// machine and once for AVX2. A subtraction before a multiplication cannot be fused, so both give the same
// bits.
template <class Pixel>
[[gnu::always_inline]] inline void convert_plain(const Pixel* __restrict in, const float* __restrict means,
                                                 float mean, float scale, std::size_t count,
                                                 float* __restrict out) {
  if (means == nullptr) {
    for (std::size_t i = 0; i < count; ++i) out[i] = (static_cast<float>(in[i]) - mean) * scale;
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = (static_cast<float>(in[i]) - means[i]) * scale;
  }
}

template <class Pixel>
using Convert = void (*)(const Pixel*, const float*, float, float, std::size_t, float*);

template <class Pixel>
void convert_any(const Pixel* in, const float* means, float mean, float scale, std::size_t count,
                 float* out) {
  convert_plain(in, means, mean, scale, count, out);
}

#if defined(__x86_64__)
template <class Pixel>
__attribute__((target("avx2"))) void convert_avx2(const Pixel* in, const float* means, float mean,
                                                  float scale, std::size_t count, float* out) {
  convert_plain(in, means, mean, scale, count, out);
}
#endif

template <class Pixel>
Convert<Pixel> fastest_convert() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return convert_avx2<Pixel>;
#endif
  return convert_any<Pixel>;
}

std::size_t plane_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width);
}

float of_channel(const std::vector<float>& values, std::size_t channel, float otherwise) {
  if (values.empty()) return otherwise;
  return values.size() == 1 ? values.front() : values[channel];
}

template <class Pixel>
void apply_to(const Transform& transform, const CropWindow& view, const Shape& shape,
              std::span<const Pixel> image, std::span<float> out) {
  const Convert<Pixel> convert = fastest_convert<Pixel>();
  const Shape cut = transform.output(shape);
  const std::size_t plane = plane_of(shape);
  const auto width = static_cast<std::size_t>(cut.width);
  const bool mean_image = transform.mean.size() > static_cast<std::size_t>(shape.channels) &&
                          transform.mean.size() == shape.count();
  const bool whole = cut == shape && !view.mirrored;
  float* to = out.data();
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c) {
    const float mean = mean_image ? 0.0F : of_channel(transform.mean, c, 0.0F);
    const float scale = of_channel(transform.scale, c, 1.0F);
    const std::size_t run = whole ? plane : width;
    for (std::size_t row = 0; row < (whole ? 1 : static_cast<std::size_t>(cut.height)); ++row) {
      const std::size_t at =
          c * plane + (row + static_cast<std::size_t>(view.top)) * static_cast<std::size_t>(shape.width) +
          static_cast<std::size_t>(view.left);
      convert(image.data() + at, mean_image ? transform.mean.data() + at : nullptr, mean, scale, run, to);
      if (view.mirrored) std::reverse(to, to + run);
      to += run;
    }
  }
}

}  // namespace

Shape Transform::output(const Shape& shape) const {
  return {shape.channels, crop.height > 0 ? crop.height : shape.height,
          crop.width > 0 ? crop.width : shape.width};
}

std::vector<Message> check_transform(const Transform& transform, const Shape& shape) {
  std::vector<Message> errors;
  const auto channels = static_cast<std::size_t>(shape.channels);
  if (transform.crop.height > shape.height || transform.crop.width > shape.width) {
    errors.push_back(
        {fmt::format("a crop of {}x{} does not fit into images of {}x{}", transform.crop.height,
                     transform.crop.width, shape.height, shape.width),
         "--crop",
         fmt::format("--crop {}   # or --resize, of images in files", std::min(shape.height, shape.width))});
  }
  const std::size_t means = transform.mean.size();
  if (means > 1 && means != channels && means != shape.count()) {
    errors.push_back(
        {fmt::format("{} mean values for images of {} channel(s) of {}x{}: one, {}, or {} are needed", means,
                     channels, shape.height, shape.width, channels, shape.count()),
         "--mean", "--mean 127.5"});
  }
  if (transform.scale.size() > 1 && transform.scale.size() != channels) {
    errors.push_back({fmt::format("{} scales for images of {} channel(s): one, or one per channel, is needed",
                                  transform.scale.size(), channels),
                      "--scale", "--scale 0.00390625"});
  }
  return errors;
}

CropWindow random_crop(const Transform& transform, const Shape& shape, std::uint64_t seed, std::uint64_t step,
                       std::uint64_t image) {
  const Shape cut = transform.output(shape);
  if (cut == shape && !transform.mirror) return {};
  Random random(mix_seed(mix_seed(mix_seed(seed, augment_stream), step), image));
  CropWindow view;
  view.top = static_cast<int>(random.below(static_cast<std::uint64_t>(shape.height - cut.height) + 1));
  view.left = static_cast<int>(random.below(static_cast<std::uint64_t>(shape.width - cut.width) + 1));
  view.mirrored = transform.mirror && random.below(2) == 1;
  return view;
}

CropWindow center_crop(const Transform& transform, const Shape& shape) {
  const Shape cut = transform.output(shape);
  return {(shape.height - cut.height) / 2, (shape.width - cut.width) / 2, false};
}

void apply_transform(const Transform& transform, const CropWindow& view, const Shape& shape,
                     std::span<const std::uint8_t> image, std::span<float> out) {
  apply_to(transform, view, shape, image, out);
}

void apply_transform(const Transform& transform, const CropWindow& view, const Shape& shape,
                     std::span<const float> image, std::span<float> out) {
  apply_to(transform, view, shape, image, out);
}

}  // namespace ddlrun::runtime
