// SPDX-License-Identifier: MIT
// The lines of a log that a diagnosis shows where no signature explains the end.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

namespace ddlrun::diagnose {

bool exited_itself(const FailingRank& rank);

// Python ends with status 1 after an exception. A first rank with another status ended by itself, and what
// the others report follows from that.
bool shows_only_consequences(const LogFacts& log);

// The likely error lines of a run that failed, in the order of the log.
void fill_salient(Diagnosis& diagnosis, const LogFacts& log);

// No sign of a failure: lists the few lines that may still be errors.
void add_doubtful(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
