// SPDX-License-Identifier: MIT
// What one instruction set offers: a function for each number type and operation. Private to the kernels.
// The files compiled for AVX see only this header and built-ins: no inline function of the standard library
// may come out of them, the linker could take it for everybody.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ddl {

// One call of reduce() with nothing left to decide.
struct ReduceCall {
  const std::byte* const* sources;
  std::size_t source_count;
  std::byte* const* destinations;
  std::size_t destination_count;
  std::size_t count;  // numbers, not bytes
  double scale;
  bool streaming;  // past the caches: all destinations have the same place within 64 bytes
};

constexpr std::size_t kernel_types = 7;  // in the order of DataType
using ReduceKernel = void (*)(const ReduceCall&);

struct KernelTable {
  const char* name;
  ReduceKernel sum[kernel_types];
  ReduceKernel scaled_sum[kernel_types];
  ReduceKernel max[kernel_types];
  ReduceKernel min[kernel_types];
  ReduceKernel product[kernel_types];
  void (*narrow[2])(const float* from, std::byte* out, std::size_t count);  // to float16, bfloat16
  void (*widen[2])(const std::byte* in, float* out, std::size_t count);     // from float16, bfloat16
};

KernelTable scalar_kernels();
KernelTable avx2_kernels();  // these two exist on x86-64 only
KernelTable avx512_kernels();

}  // namespace ddl
