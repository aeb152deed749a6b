// SPDX-License-Identifier: MIT
// The page of a command in section 1.
#pragma once

#include "man/pages.hpp"

namespace ddlrun::man {

// False for a command that the page of its program describes.
bool has_page(const CommandReference& command);

OutputFile render_command_page(const CommandReference& command, const Sources& sources);

}  // namespace ddlrun::man
