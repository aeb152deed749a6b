// SPDX-License-Identifier: MIT
// Mean and deviation of pixels, for normalization to mean 0 and deviation 1.
#pragma once

#include "runtime/data/image_source.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Sums over one channel; those of several subsets can be added.
struct Moments {
  double count = 0.0;
  double sum = 0.0;
  double squares = 0.0;

  double mean() const { return count > 0.0 ? sum / count : 0.0; }
  // 1 where all pixels are alike.
  double deviation() const;
  bool operator==(const Moments&) const = default;
};

// One per channel: of all images in memory, else of about 100, evenly spaced.
std::vector<Moments> measure_moments(const ImageSource& source);

}  // namespace ddlrun::runtime
