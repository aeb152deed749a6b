// SPDX-License-Identifier: MIT
// The kernels in 32-byte vectors. Compiled for AVX2 and F16C; called only where the processor has them.
#include "ddl/core/kernels_impl.hpp"

#include <immintrin.h>

namespace ddl {

namespace {

struct Avx2Isa {
  static constexpr const char* name = "avx2";
  static constexpr std::size_t bytes = 32;
  static constexpr bool streams = true;

  template <class Sums, class Packed>
  static Sums widen_half(Packed values) {
    return (Sums)_mm256_cvtph_ps((__m128i)values);
  }
  template <class Packed, class Sums>
  static Packed narrow_half(Sums sums) {
    return (Packed)_mm256_cvtps_ph((__m256)sums, _MM_FROUND_TO_NEAREST_INT);
  }
  template <class Wide, class Narrow>
  static Wide widen_bits(Narrow values) {
    return (Wide)_mm256_cvtepu16_epi32((__m128i)values);
  }
  template <class Narrow, class Wide>
  static Narrow narrow_bits(Wide values) {
    return __builtin_convertvector(values, Narrow);
  }
  template <class Packed>
  static void stream(std::byte* to, Packed values) {
    if constexpr (sizeof(Packed) == 32)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)values);
    else
      _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)values);
  }
  static void fence() { _mm_sfence(); }
};

}  // namespace

KernelTable avx2_kernels() { return Kernels<Avx2Isa>::table(); }

}  // namespace ddl
