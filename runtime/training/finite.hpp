// SPDX-License-Identifier: MIT
// Checks for NaN and infinity.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace ddlrun::runtime {

// Integer work on the exponents, because it vectorises where isfinite() does not.
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7f800000U;
  std::uint32_t bad = 0;
  for (const float value : values)
    bad |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent ? 1U : 0U;
  return bad == 0;
}

}  // namespace ddlrun::runtime
