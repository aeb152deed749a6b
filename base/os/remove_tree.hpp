// SPDX-License-Identifier: MIT
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun {

// With all that is in it; links are removed, not followed. Needs `system.kernel`.
void remove_tree(System& system, const std::string& path);

}  // namespace ddlrun
