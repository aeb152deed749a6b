// SPDX-License-Identifier: MIT
// Mean and deviation of the pixels, for images that should reach the net with mean 0 and deviation 1.
#pragma once

#include "runtime/data/image_source.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Sums over one channel; those of several parts of a set can be added.
struct Moments {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;

  double mean() const { return count > 0.0 ? sum / count : 0.0; }
  // 1 where all pixels are alike.
  double deviation() const;
  bool operator==(const Moments&) const = default;
};

// One a channel: of all images in memory, else of about 100, evenly spread.
std::vector<Moments> measure_moments(const ImageSource& source);

}  // namespace ddlrun::runtime
