// SPDX-License-Identifier: MIT
// How large a machine hwloc's synthetic text describes, without building it: hwloc needs seconds for
// 16,384 hardware threads and minutes for ten times as many.
#pragma once

#include <cstdint>
#include <string_view>

namespace ddlrun::topology {

constexpr std::uint64_t max_synthetic_pus = 16384;

// The product of the counts outside brackets, "pack:2 [numa] core:8 pu:2" = 32; UINT64_MAX if it overflows.
std::uint64_t synthetic_size(std::string_view text);

}  // namespace ddlrun::topology
