// SPDX-License-Identifier: MIT
// What explains the first finding and would rank behind it: that all ranks wait explains a time limit, and a
// compiler's error a program that is not there.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// ddlrun's note that all ranks wait, and the classes of errors of a time limit and of a compiler.
constexpr std::string_view stall_id = "O8";
constexpr std::string_view time_limit_id = "L25";
constexpr std::string_view compiler_id = "L30";

// Moves or adds the explanation to the front of `also_seen`.
void promote_explanation(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
