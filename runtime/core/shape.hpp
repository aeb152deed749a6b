// SPDX-License-Identifier: MIT
// Sizes of images and activations, and the label of an image.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

using Label = std::uint16_t;  // the class of an image, from 0

// One image or activation without the batch dimension: [C, H, W].
struct Shape {
  int channels = 1;
  int height = 1;
  int width = 1;

  constexpr std::size_t count() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) *
           static_cast<std::size_t>(width);
  }
  bool operator==(const Shape&) const = default;
};

struct Sides {
  int height = 0;
  int width = 0;
  bool operator==(const Sides&) const = default;
};

}  // namespace ddlrun::runtime
