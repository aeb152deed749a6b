// SPDX-License-Identifier: MIT
// Bilinear resizing with weights of 11 bits, the arithmetic of OpenCV's resize() of 8-bit images.
#include "runtime/data/image.hpp"

#include <algorithm>
#include <cmath>

namespace ddlrun::runtime {
namespace {

constexpr int weight_one = 1 << 11;

// Where an output row or column looks: two neighbours and their weights.
struct Tap {
  std::size_t first;
  std::size_t second;
  int first_weight;
  int second_weight;
};

// Centres of pixels lie at halves; beyond the first and last centre the border pixel is repeated.
std::vector<Tap> plan_taps(int from, int to) {
  std::vector<Tap> taps;
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  for (int i = 0; i < to; ++i) {
    const auto place = static_cast<float>((i + 0.5) * ratio - 0.5);
    int first = static_cast<int>(std::floor(place));
    float part = place - static_cast<float>(first);
    if (first < 0) {
      first = 0;
      part = 0.0F;
    }
    if (first >= from - 1) {
      first = from - 1;
      part = 0.0F;
    }
    const auto weigh = [](float weight) { return static_cast<int>(std::lrint(weight * weight_one)); };
    taps.push_back({static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(first + 1, from - 1)),
                    weigh(1.0F - part), weigh(part)});
  }
  return taps;
}

void stretch_row(const std::uint8_t* row, std::size_t channels, const std::vector<Tap>& columns, int* out) {
  for (const Tap& tap : columns) {
    const std::uint8_t* first = row + tap.first * channels;
    const std::uint8_t* second = row + tap.second * channels;
    for (std::size_t c = 0; c < channels; ++c)
      *out++ = first[c] * tap.first_weight + second[c] * tap.second_weight;
  }
}

}  // namespace

Image resize_image(const Image& image, Sides size) {
  if (image.height == size.height && image.width == size.width) return image;
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::vector<Tap> rows = plan_taps(image.height, size.height);
  const std::vector<Tap> columns = plan_taps(image.width, size.width);
  const std::size_t stride = static_cast<std::size_t>(image.width) * channels;
  const std::size_t length = columns.size() * channels;
  Image out{image.channels, size.height, size.width, std::vector<std::uint8_t>(rows.size() * length)};
  std::vector<int> lines[2] = {std::vector<int>(length), std::vector<int>(length)};
  std::size_t held[2] = {SIZE_MAX, SIZE_MAX};  // the rows that `lines` are made of
  std::uint8_t* to = out.pixels.data();
  for (const Tap& tap : rows) {
    if (held[0] != tap.first && held[1] == tap.first) {
      std::swap(lines[0], lines[1]);
      std::swap(held[0], held[1]);
    }
    const std::size_t wanted[2] = {tap.first, tap.second};
    for (int k = 0; k < 2; ++k) {
      if (held[k] == wanted[k]) continue;
      stretch_row(image.pixels.data() + wanted[k] * stride, channels, columns, lines[k].data());
      held[k] = wanted[k];
    }
    const int* upper = lines[0].data();
    const int* lower = lines[1].data();
    for (std::size_t i = 0; i < length; ++i) {
      const int sum =
          ((tap.first_weight * (upper[i] >> 4)) >> 16) + ((tap.second_weight * (lower[i] >> 4)) >> 16);
      to[i] = static_cast<std::uint8_t>((sum + 2) >> 2);
    }
    to += length;
  }
  return out;
}

}  // namespace ddlrun::runtime
