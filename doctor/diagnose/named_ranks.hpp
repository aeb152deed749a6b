// SPDX-License-Identifier: MIT
// The ranks that a message of libddl names, both where it names two.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

namespace ddlrun::diagnose {

// `all_ranks` of two ranks that make different calls.
void add_other_rank(Finding& cause);

// The first of `findings` that names a rank that is gone, or nullptr.
const Finding* find_gone_rank(const std::vector<Finding>& findings);

}  // namespace ddlrun::diagnose
