// SPDX-License-Identifier: MIT
// Hexadecimal numbers as /proc and /sys write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ddlrun::doctor {

// "0x1f" and "1f" are 31; nothing for any other text.
std::optional<std::uint64_t> parse_hex(std::string_view text);

}  // namespace ddlrun::doctor
