// SPDX-License-Identifier: MIT
// The time of day as a number, as files and records keep it.
#pragma once

#include "base/os/system.hpp"

#include <chrono>
#include <cstdint>

namespace ddlrun {

// Since 1970.
inline std::int64_t unix_seconds(System& system) {
  return std::chrono::duration_cast<std::chrono::seconds>(system.clock.now().time_since_epoch()).count();
}

}  // namespace ddlrun
