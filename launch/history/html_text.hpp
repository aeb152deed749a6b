// SPDX-License-Identifier: MIT
// Anybody's text made safe inside HTML: element or attribute. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::run_report {

// & < > " ' as entities, control bytes and what is no UTF-8 as \xNN; tabs and newlines stay where `lines`.
// After `limit` bytes "...".
std::string escape_html(std::string_view text, std::size_t limit = 4000, bool lines = false);

// A file's absolute path as what an href holds.
std::string render_file_link(std::string_view path);

}  // namespace ddlrun::run_report
