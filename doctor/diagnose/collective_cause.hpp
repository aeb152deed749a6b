// SPDX-License-Identifier: MIT
// What the time limits of collectives show: ranks that wait in different ones, and the rank that is behind.
#pragma once

#include "doctor/diagnose/log_facts.hpp"

namespace ddlrun::diagnose {

void add_collective_cause(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
