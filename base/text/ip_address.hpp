// SPDX-License-Identifier: MIT
// IP addresses as text. Pure.
#pragma once

#include <string_view>

namespace ddlrun {

// "10.0.0.1" or "fe80::1", and nothing else in the text.
bool is_ip_address(std::string_view text);

}  // namespace ddlrun
