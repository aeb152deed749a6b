// SPDX-License-Identifier: MIT
// The kernels for any machine: vectors of 16 bytes, which compilers map on what there is (SSE2, NEON, VSX).
#include "ddl/core/kernels_impl.hpp"

namespace ddl {

namespace {

struct ScalarIsa {
  static constexpr const char* name = "scalar";
  static constexpr std::size_t bytes = 16;
  static constexpr bool streams = false;
  using Floats [[gnu::vector_size(16)]] = float;
  using Ints [[gnu::vector_size(16)]] = std::int32_t;

  // float16's exponents have 5 bits and a bias of 15, float32's 8 and 127; denormals are set free by a
  // subtraction of floats, which meets no float32 denormal and so does not mind flush-to-zero modes.
  template <class Sums, class Packed>
  static Sums widen_half(Packed values) {
    const Ints half = __builtin_convertvector(values, Ints);
    const Ints magnitude = (half & 0x7fff) << 13;
    const Ints exponent = magnitude & 0x0f800000;
    const Ints least = Ints{} + (113 << 23);
    const Ints normal = magnitude + (112 << 23);
    const Ints special =
        (magnitude + (224 << 23)) | ((magnitude & 0x7fffff) != 0 ? Ints{} + 0x400000 : Ints{});
    const Ints denormal = (Ints)((Floats)(magnitude + (113 << 23)) - (Floats)least);
    const Ints result = exponent == 0x0f800000 ? special : exponent == 0 ? denormal : normal;
    return (Sums)(result | ((half & 0x8000) << 16));
  }

  template <class Packed, class Sums>
  static Packed narrow_half(Sums sums) {
    const Ints bits = (Ints)sums;
    const Ints magnitude = bits & 0x7fffffff;
    const Ints sign = (bits >> 16) & 0x8000;
    const Ints infinity = Ints{} + 0x7c00;
    const Ints nan = infinity | 0x200 | ((magnitude >> 13) & 0x3ff);
    const Ints half_unit =
        Ints{} + (126 << 23);  // 0.5: one unit in its last place is float16's least denormal
    const Ints denormal = (Ints)((Floats)magnitude + (Floats)half_unit) - half_unit;
    const Ints normal = (magnitude - (112 << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    const Ints large = magnitude > 0x7f800000 ? nan : infinity;
    const Ints result = magnitude >= (143 << 23) ? large : magnitude < (113 << 23) ? denormal : normal;
    return __builtin_convertvector(result | sign, Packed);
  }

  template <class Wide, class Narrow>
  static Wide widen_bits(Narrow values) {
    return __builtin_convertvector(values, Wide);
  }
  template <class Narrow, class Wide>
  static Narrow narrow_bits(Wide values) {
    return __builtin_convertvector(values, Narrow);
  }
};

}  // namespace

KernelTable scalar_kernels() { return Kernels<ScalarIsa>::table(); }

}  // namespace ddl
