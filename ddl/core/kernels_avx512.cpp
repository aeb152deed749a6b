// SPDX-License-Identifier: MIT
// The kernels in 64-byte vectors. Compiled for AVX-512 F, BW, DQ and VL; called only where the processor has
// them.
#include "ddl/core/kernels_impl.hpp"

#include <immintrin.h>

namespace ddl {

namespace {

struct Avx512Isa {
  static constexpr const char* name = "avx512";
  static constexpr std::size_t bytes = 64;
  static constexpr bool streams = true;

  template <class Sums, class Packed>
  static Sums widen_half(Packed values) {
    return (Sums)_mm512_maskz_cvtph_ps(0xffff, (__m256i)values);
  }
  template <class Packed, class Sums>
  static Packed narrow_half(Sums sums) {
    return (Packed)_mm512_maskz_cvtps_ph(0xffff, (__m512)sums, _MM_FROUND_TO_NEAREST_INT);
  }
  template <class Wide, class Narrow>
  static Wide widen_bits(Narrow values) {
    return (Wide)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)values);
  }
  template <class Narrow, class Wide>
  static Narrow narrow_bits(Wide values) {
    return (Narrow)_mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)values);
  }
  template <class Packed>
  static void stream(std::byte* to, Packed values) {
    if constexpr (sizeof(Packed) == 64)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)values);
    else
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)values);
  }
  static void fence() { _mm_sfence(); }
};

}  // namespace

KernelTable avx512_kernels() { return Kernels<Avx512Isa>::table(); }

}  // namespace ddl
