// SPDX-License-Identifier: MIT
// Do all ranks have the same options, and the same tensors? Pure: texts in, the first difference out.
#pragma once

#include "ddl/ddl.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// The options that decide what a rank sends, as DDL_OPTIONS has them, a line each.
std::string render_shared_options(const Options& options);
// The first rank whose options are not rank 0's, with all that differ. `names`: "rank 3 (h2)".
std::optional<Error> find_other_options(const std::vector<std::string>& options,
                                        const std::vector<std::string>& names);

// One line a tensor: name, type, count.
std::string render_layout(std::span<const Tensor> tensors);

// The first rank whose layout is not rank 0's, with the first tensor in which it differs.
std::optional<Error> find_difference(const std::vector<std::string>& layouts,
                                     const std::vector<std::string>& names);

// Numbers for comparing: FNV-1a.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 14695981039346656037ULL);
std::uint64_t hash_numbers(std::span<const std::uint64_t> numbers);

}  // namespace ddl
