// SPDX-License-Identifier: MIT
// How many values the options of mpirun have: Open MPI's, MPICH's hydra and Intel MPI's.
#pragma once

#include <cstddef>
#include <string_view>

namespace ddlrun::frameworks {

struct OptionValues {
  std::size_t count = 0;
  bool is_sure = true;  // false: no table has the option, or the launchers differ
};

// `word` is the option as typed, `name` has no dashes, and '-' for '_'. `next` is the word behind it, or "".
OptionValues count_mpirun_values(std::string_view word, std::string_view name, std::string_view next);

}  // namespace ddlrun::frameworks
