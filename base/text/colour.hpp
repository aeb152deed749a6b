// SPDX-License-Identifier: MIT
// Colours for messages on a terminal: the severity of a line, and the labels of its parts.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun {

// "ddlrun: error: ...", "job.pbs:4:6: warning: ..." with the severity coloured; labels such as "  try:" and
// "cause:" too. Other lines stay as they are.
std::string colour_messages(std::string_view text);

}  // namespace ddlrun
