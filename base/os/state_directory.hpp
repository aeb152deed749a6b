// SPDX-License-Identifier: MIT
// Where ddlrun keeps what outlives a command, by the XDG base directory specification.
#pragma once

#include "base/os/system.hpp"

#include <string>

namespace ddlrun {

// XDG_STATE_HOME/ddlrun, else HOME/.local/state/ddlrun; a variable that is no absolute path counts as not
// set. Error{request} where neither is: there is no place for `what`, and `hint` names one.
std::string find_state_directory(const Environment& environment, const std::string& what,
                                 const std::string& hint);

// The same, and Error{request} where another user owns that directory or can exchange it: he could choose
// what `resubmit last` and `replay last` start.
std::string find_own_state_directory(System& system, const std::string& what, const std::string& hint);

}  // namespace ddlrun
