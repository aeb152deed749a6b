// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>

namespace ddl {

// The value of an environment variable, or nullptr. Only for use before the program has other threads.
inline const char* environment_variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace ddl
