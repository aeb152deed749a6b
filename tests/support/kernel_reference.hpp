// SPDX-License-Identifier: MIT
// The arithmetic of libddl's kernels as plain and slow as it can be: what they are compared with. Number
// defines how one number is read, added, multiplied, scaled and written.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernel_reference {

// The reference's view of one number: `Math` is what it is added in.
struct Plain {
  using Stored = float;
  using Math = float;
  static Math read(Stored value) { return value; }
  static Stored write(Math value) { return value; }
  static Math add(Math a, Math b) { return static_cast<float>(static_cast<long double>(a) + b); }
  static Math times(Math a, Math b) { return static_cast<float>(static_cast<long double>(a) * b); }
  static Math scale(Math a, double b) { return times(a, static_cast<float>(b)); }
  static bool is_nan(Stored value) { return std::isnan(value); }
};
struct Wide {
  using Stored = double;
  using Math = double;
  static Math read(Stored value) { return value; }
  static Stored write(Math value) { return value; }
  static Math add(Math a, Math b) { return a + b; }
  static Math times(Math a, Math b) { return a * b; }
  static Math scale(Math a, double b) { return a * b; }
  static bool is_nan(Stored value) { return std::isnan(value); }
};
// Integers wrap around: what is left of the exact result in 128 bits.
template <typename Integer>
struct Whole {
  using Stored = Integer;
  using Math = Integer;
  __extension__ using Exact = unsigned __int128;
  static Math read(Stored value) { return value; }
  static Stored write(Math value) { return value; }
  static Math add(Math a, Math b) {
    return static_cast<Integer>(static_cast<Exact>(a) + static_cast<Exact>(b));
  }
  static Math times(Math a, Math b) {
    return static_cast<Integer>(static_cast<Exact>(a) * static_cast<Exact>(b));
  }
  static Math scale(Math a, double) { return a; }
  static bool is_nan(Stored) { return false; }
};

// value / 2^(place of the last bit), rounded by the C library to nearest even, then put together.
inline std::uint16_t half_by_arithmetic(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const auto digits = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + digits));
}
inline float float_of_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, digits = bits & 0x3ff;
  const float size = exponent == 31  ? (digits != 0 ? std::numeric_limits<float>::quiet_NaN()
                                                    : std::numeric_limits<float>::infinity())
                     : exponent == 0 ? std::ldexp(static_cast<float>(digits), -24)
                                     : std::ldexp(static_cast<float>(digits + 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}
inline std::uint16_t half_of(float value) {
#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
  __extension__ const auto half = static_cast<_Float16>(value);
  return std::bit_cast<std::uint16_t>(half);
#else
  return half_by_arithmetic(value);
#endif
}
inline std::uint16_t brain_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rest = bits & 0xffff, upper = bits >> 16;
  if (std::isnan(value)) return static_cast<std::uint16_t>(upper | 0x40);
  return static_cast<std::uint16_t>(upper + (rest > 0x8000 || (rest == 0x8000 && upper % 2 == 1) ? 1 : 0));
}
inline float float_of_brain(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

struct HalfNumber : Plain {
  using Stored = std::uint16_t;
  static Math read(Stored bits) {
    static const std::vector<float> all = [] {
      std::vector<float> floats;
      for (std::uint32_t half = 0; half < 65536; ++half)
        floats.push_back(float_of_half(static_cast<std::uint16_t>(half)));
      return floats;
    }();
    return all[bits];
  }
  static Stored write(Math value) { return half_of(value); }
  static bool is_nan(Stored bits) { return (bits & 0x7fff) > 0x7c00; }
};
struct BrainNumber : Plain {
  using Stored = std::uint16_t;
  static Math read(Stored bits) { return float_of_brain(bits); }
  static Stored write(Math value) { return brain_of(value); }
  static bool is_nan(Stored bits) { return (bits & 0x7fff) > 0x7f80; }
};

}  // namespace kernel_reference
