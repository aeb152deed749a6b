// SPDX-License-Identifier: MIT
// Good and bad rankfiles: what Open MPI 4.1 makes of each, and the finding that ours must have.
#pragma once

#include "tests/support/rankfile_outcome.hpp"

#include <span>
#include <string_view>

namespace ddlrun::tests {

struct CheckRow {
  std::string_view name;
  std::string_view machine;  // hwloc's synthetic form, or "uneven"
  std::string_view text;     // the rankfile
  int ranks;                 // -n, or 0
  Outcome outcome;
  std::string_view findings;  // "id@line id@line": all findings but notes, in any order; "" for a clean file
};

std::span<const CheckRow> check_rows();

}  // namespace ddlrun::tests
