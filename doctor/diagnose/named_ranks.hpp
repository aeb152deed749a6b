// SPDX-License-Identifier: MIT
// The ranks that a message of libddl names, both where it names two.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

namespace ddlrun::diagnose {

// `all_ranks` of two ranks that make different calls.
void add_other_rank(Finding& cause);

}  // namespace ddlrun::diagnose
