// SPDX-License-Identifier: MIT
// Causes by the exit status or by missing output, where no text of the log shows one.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

namespace ddlrun::diagnose {

// Below this score the most telling line does not explain a signal in the status: a crash in the launcher's
// words has less.
constexpr int min_explaining_score = 75;

// Of a run that reached a time limit without an error: its last line, and how to find out for what it waits.
void add_last_sign_of_life(Diagnosis& diagnosis, const LogFacts& log);

// Adds them to `diagnosis.also_seen`, behind causes that a text has shown.
void add_status_causes(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
