// SPDX-License-Identifier: MIT
// The error numbers of CUDA's and HIP's run times in words.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// "CUDA error: 2" -> "cudaErrorMemoryAllocation: out of memory"; "" where the text has no such number, or
// has words of its own behind it.
std::string gpu_error_words(std::string_view text);

}  // namespace ddlrun::diagnose
