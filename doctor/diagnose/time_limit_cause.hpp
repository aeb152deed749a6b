// SPDX-License-Identifier: MIT
// Why a job reached its time limit: all its ranks waited, it printed nothing for long, or one rank failed and
// the others waited for it.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// ddlrun's notes on ranks that wait: all of them, some, those for which one that computes does not come. And
// the class of errors of a time limit.
constexpr std::string_view stall_id = "O8", partial_stall_id = "O18", awaited_id = "O33";
constexpr std::string_view time_limit_id = "L25";

bool is_stall(const Finding& finding);
bool is_time_limit(const Finding& finding, const SignatureSet& signatures);

// Moves or adds the reason to the front of `also_seen`, where that is a time limit.
void promote_limit_cause(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
