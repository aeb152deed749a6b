// SPDX-License-Identifier: MIT
#include "base/text/figures.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ddlrun {

double round_to_five_digits(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const double unit = std::pow(10.0, 4.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

std::string render_three_digits(double value) {
  if (value < 10.0) return fmt::format("{:.2f}", value);
  if (value < 100.0) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace ddlrun
