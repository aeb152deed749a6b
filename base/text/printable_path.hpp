// SPDX-License-Identifier: MIT
#pragma once

#include "base/text/text.hpp"

#include <string>
#include <string_view>

namespace ddlrun {

// A path, or a command line with it, is shown whole: as long as Linux takes one (PATH_MAX).
inline std::string printable_path(std::string_view path) { return printable(path, 4096); }

}  // namespace ddlrun
