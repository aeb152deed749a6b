// SPDX-License-Identifier: MIT
// Why a program called MPI_Abort: it prints its reason before the call. Where stdout and stderr go into one
// file, mpirun's own message may stand before that reason.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <vector>

namespace ddlrun::diagnose {

// The line near the call that looks like its reason, also in words that are less sure; nullptr where the
// first of `findings` is no call of MPI_Abort.
const SalientLine* line_before_abort(const std::vector<Finding>& findings, const LogFacts& log);
const SalientLine* line_after_abort(const std::vector<Finding>& findings, const LogFacts& log);

// Words that no rule knows: the last line before the call, else the first one behind its message, where that
// is a sentence and no row of numbers.
void add_last_words(Finding& cause, const LogFacts& log);

}  // namespace ddlrun::diagnose
