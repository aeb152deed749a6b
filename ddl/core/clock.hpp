// SPDX-License-Identifier: MIT
// Seconds of the clock that never goes back, for differences.
#pragma once

#include <chrono>

namespace ddl {

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ddl
