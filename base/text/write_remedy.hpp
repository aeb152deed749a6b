// SPDX-License-Identifier: MIT
// What to type where the system refuses to write, by its reason.
#pragma once

#include <string>

namespace ddlrun {

// `code`: an errno; `path`: the file, or the directory in which it is to be.
std::string write_remedy(int code, const std::string& path);

}  // namespace ddlrun
