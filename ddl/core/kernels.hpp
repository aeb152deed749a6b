// SPDX-License-Identifier: MIT
// The arithmetic of the collectives: vectors of one host added up where they lie. AVX-512, AVX2 or plain C++,
// chosen once at run time; all three give the same bits. No function here waits, allocates or throws.
#pragma once

#include "ddl/data_type.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace ddl {

// How results are scaled: each result is multiplied by `scale` (1/ranks for an average) before it is rounded
// to its type, in float32 for float32 and the 16-bit types, in double for float64. 1.0 leaves the sum as it
// is; max, min and product ignore it.
struct Reduction {
  DataType type = DataType::float32;
  Operation operation = Operation::sum;
  double scale = 1.0;
};

// For i in [0, count): the sum (maximum, minimum, product) of sources[0][i], sources[1][i], ... in this
// order, then scaled, written to all destinations. A destination may be one of the sources; else none
// overlap. 16-bit types are added or multiplied in float32 and rounded once, to nearest even. Integers wrap
// around. NaN: any operation with a NaN gives NaN. At least one source; at most 1024 of each. Any alignment;
// 64-byte aligned is fastest.
void reduce(const Reduction& reduction, std::span<const std::byte* const> sources,
            std::span<std::byte* const> destinations, std::size_t count);

// float32 to a 16-bit type (nearest even; float16 overflows to infinity; NaN stays NaN) and back, for narrow
// wires.
void narrow(DataType to, std::span<const float> from, std::byte* out);
void widen(DataType from, const std::byte* in, std::span<float> out);

// "avx512", "avx2" or "scalar": what this process uses. DDL_KERNELS in the environment picks a lower one.
std::string_view kernel_name();

}  // namespace ddl
