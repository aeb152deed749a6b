// SPDX-License-Identifier: MIT
#include "runtime/data/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t sampled_images = 100;
using Histogram = std::array<std::uint64_t, 256>;

void add_histogram(const Histogram& histogram, Moments& moments) {
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    const auto x = static_cast<double>(value);
    const auto times = static_cast<double>(histogram[value]);
    moments.count += times;
    moments.sum += x * times;
    moments.squares += x * x * times;
  }
}

void add_floats(std::span<const float> values, Moments& moments) {
  for (const float value : values) {
    moments.count += 1.0;
    moments.sum += static_cast<double>(value);
    moments.squares += static_cast<double>(value) * static_cast<double>(value);
  }
}

}  // namespace

double Moments::deviation() const {
  if (count <= 0.0) return 1.0;
  const double variance = squares / count - mean() * mean();
  // Relative, for floats come in any size; bytes that are alike leave rounding of this order.
  return variance > 1e-9 * std::max(squares / count, 1e-30) ? std::sqrt(variance) : 1.0;
}

std::vector<Moments> measure_moments(const ImageSource& source) {
  const Shape shape = source.shape();
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t plane = shape.count() / channels;
  const std::size_t asked = source.in_memory() ? source.count() : std::min(source.count(), sampled_images);
  std::vector<Moments> moments(channels);
  std::vector<Histogram> histograms(channels, Histogram{});
  std::vector<float> room((source.image_bytes() + sizeof(float) - 1) / sizeof(float));
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(room)).first(source.image_bytes());
  for (std::size_t i = 0; i < asked; ++i) {
    const std::size_t index = i * source.count() / asked;
    std::span<const std::byte> image = source.view(index);
    if (image.empty()) {
      source.read(index, bytes);
      image = bytes;
    }
    for (std::size_t c = 0; c < channels; ++c) {
      if (source.pixels() == PixelKind::floats) {
        add_floats(std::span<const float>(room).subspan(c * plane, plane), moments[c]);
      } else {
        for (const std::byte pixel : image.subspan(c * plane, plane))
          ++histograms[c][static_cast<std::size_t>(pixel)];
      }
    }
  }
  for (std::size_t c = 0; c < channels; ++c) add_histogram(histograms[c], moments[c]);
  return moments;
}

}  // namespace ddlrun::runtime
