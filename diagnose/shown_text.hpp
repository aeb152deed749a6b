// SPDX-License-Identifier: MIT
// Bytes of a log made safe for a terminal: no control characters of any kind, only valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// Tabs become blanks, other control bytes (C1 too) and bytes that are no UTF-8 become \xNN; at most `limit`
// bytes of `text`, then "...".
std::string shown(std::string_view text, std::size_t limit = 400);

}  // namespace ddlrun::diagnose
