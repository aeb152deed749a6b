// SPDX-License-Identifier: MIT
// Do all ranks have the same tensors? Pure: texts in, the first difference out.
#pragma once

#include "ddl/ddl.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// One line a tensor: name, type, count.
std::string render_layout(std::span<const Tensor> tensors);

// The first rank whose layout is not rank 0's, with the first tensor in which it differs. `names`: "rank 3
// (h2)".
std::optional<Error> find_difference(const std::vector<std::string>& layouts,
                                     const std::vector<std::string>& names);

// Numbers for comparing: FNV-1a.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 14695981039346656037ULL);
std::uint64_t hash_numbers(std::span<const std::uint64_t> numbers);

}  // namespace ddl
