// SPDX-License-Identifier: MIT
// Messages that logs of runs which ended well contain too: by their text or by the program's source, the
// program goes on. Where nothing else failed and no exit status is known, they are notes.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// "WARNING: ... This value will be ignored.", "Warning: ... the default is used": such a message in one text.
bool describes_no_failure(std::string_view message);

// True where the log shows nothing but such notes: all findings are then of class W.
bool demote_notes(std::vector<Finding>& findings, const LogFacts& log);

}  // namespace ddlrun::diagnose
