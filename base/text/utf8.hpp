// SPDX-License-Identifier: MIT
// UTF-8 in foreign bytes. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun {

// The bytes of the UTF-8 character at the beginning of `text`, 1 to 4; 0 where there is none: overlong forms,
// surrogates and values beyond U+10FFFF are none (RFC 3629).
std::size_t utf8_length(std::string_view text);

// The same for a character that a terminal shows as it is: 0 too for control characters (C0, C1, DEL), for
// ends of lines (U+2028, U+2029) and for those that turn the direction of writing.
std::size_t printable_length(std::string_view text);

bool is_utf8(std::string_view text);

// A JSON document with each such character as \uXXXX: a terminal shows it, and it parses to the same.
std::string escape_json(std::string document);

}  // namespace ddlrun
