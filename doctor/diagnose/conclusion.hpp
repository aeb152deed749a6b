// SPDX-License-Identifier: MIT
// From what was kept of the logs to the diagnosis. The order of causes:
//   P  a known cause by its text
//   G  a known, less specific cause; an exception of Python that no other text explains
//   L  the most telling line by general rules: "most likely"
//   N  a known cause by the exit status alone
//   E  how a rank ended, without the reason
// Consequences (S) and harmless messages (W) are never the cause.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// A collective that did not end in time, and the signature where its ranks wait in different ones.
constexpr std::string_view collective_timeout_id = "D35";
constexpr std::string_view collective_mismatch_id = "D70";

Diagnosis conclude(const LogFacts& log, const RunStatus& end);

}  // namespace ddlrun::diagnose
