// SPDX-License-Identifier: MIT
// What Open MPI does with a rankfile.
#pragma once

#include <string_view>

namespace ddlrun::tests {

// What Open MPI really does with a file.
enum class Outcome {
  bound,      // accepted, every rank on its host and cores as written
  refused,    // some error, however badly worded
  crash,      // mpirun dies by a signal
  different,  // accepted silently, but a host, a binding or the number of ranks is not as written
};

inline std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::bound:
      return "bound";
    case Outcome::refused:
      return "refused";
    case Outcome::crash:
      return "crash";
    case Outcome::different:
      return "different";
  }
  return "";
}

}  // namespace ddlrun::tests
