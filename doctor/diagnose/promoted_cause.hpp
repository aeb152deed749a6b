// SPDX-License-Identifier: MIT
// What explains the first finding and would rank behind it: that all ranks wait explains a time limit, and a
// compiler's error a program that is not there.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// The class of errors of a compiler.
constexpr std::string_view compiler_id = "L30";

// Moves or adds the explanation to the front of `also_seen`.
void promote_explanation(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
