// SPDX-License-Identifier: MIT
// Which values the shells offer for an option: its words, or where they come from.
#pragma once

#include "base/text/command_reference.hpp"

#include <string_view>

namespace ddlrun::cli {

// Sets `choices` and `source` of an option of the command.
void add_choices(std::string_view command, OptionReference& option);

}  // namespace ddlrun::cli
