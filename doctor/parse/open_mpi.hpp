// SPDX-License-Identifier: MIT
// What the number of a release of Open MPI says.
#pragma once

#include "base/text/text.hpp"

#include <string_view>

namespace ddlrun::doctor {

// "4.1.4" -> 4, "6.0.0rc2" -> 6; 4 where there is no number.
inline int open_mpi_major(std::string_view release) {
  return static_cast<int>(parse_unsigned(release.substr(0, release.find('.')), 99).value_or(4));
}

// From release 5 on mpirun is PRRTE's, which starts prted in place of orted.
inline bool starts_prted(std::string_view release) { return open_mpi_major(release) >= 5; }

}  // namespace ddlrun::doctor
