// SPDX-License-Identifier: MIT
// Which instruction set the kernels use; here so that tests and benchmarks can try each of them.
#pragma once

#include "ddl/core/kernel_table.hpp"
#include "ddl/core/kernels.hpp"

namespace ddl {

// "avx512", "avx2", "scalar". Null where this machine has no such instructions.
const KernelTable* find_kernels(std::string_view name);
// The requested ones; the best ones if `requested` is null, unknown or not of this machine.
const KernelTable& choose_kernels(const char* requested);

// reduce() and no choice of the instruction set.
void reduce_with(const KernelTable& kernels, const Reduction& reduction,
                 std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                 std::size_t count);

}  // namespace ddl
