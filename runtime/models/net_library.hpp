// SPDX-License-Identifier: MIT
// The built-in nets: library/*.yaml, by name. build_net() reads them, and ddl-train print-net prints them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::runtime {

// Name and YAML text, by name.
std::vector<std::pair<std::string, std::string_view>> builtin_nets();

// The YAML text of one net. Throws Error(usage) for an unknown name.
std::string_view find_net_text(std::string_view name);

}  // namespace ddlrun::runtime
