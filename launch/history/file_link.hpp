// SPDX-License-Identifier: MIT
// Links to files in the report. Pure.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun::launch {

// A file's absolute path as the text of an href.
std::string render_file_link(std::string_view path);

}  // namespace ddlrun::launch
