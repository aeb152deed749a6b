// SPDX-License-Identifier: MIT
// Makes bytes of a log safe for a terminal: no control characters, only valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// Tabs become blanks, other control bytes (C1 too) and bytes that are no UTF-8 become \xNN; at most `limit`
// bytes of `text`, then "...".
std::string sanitize(std::string_view text, std::size_t limit = 1000);

// At most `limit` bytes of a safe text: its beginning, "...", and its end, where the reason often stands.
std::string shorten(std::string text, std::size_t limit);

}  // namespace ddlrun::diagnose
