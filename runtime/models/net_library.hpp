// SPDX-License-Identifier: MIT
// The nets that are part of the program: library/*.yaml, by their names. build_net() reads them, and
// ddl-train print-net shows them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::runtime {

// Name and YAML text, by name.
std::vector<std::pair<std::string, std::string_view>> builtin_nets();

// One of them. Throws Error(usage) for an unknown name.
std::string_view find_net_text(std::string_view name);

}  // namespace ddlrun::runtime
