// SPDX-License-Identifier: MIT
// Whether all ranks of a run failed in the same way: then none of them failed because of another.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_facts.hpp"

#include <cstdint>
#include <set>

namespace ddlrun::diagnose {

// The ranks that show one error, and how often the log has it.
struct RanksAlike {
  std::set<std::uint32_t> ranks;
  std::uint64_t count = 0;
};

// Whether each of the `ranks_of_run` has it. Where lines have no rank only the end line of launch shows that:
// one rank may log an exception and raise it, too.
bool is_of_all(const RanksAlike& alike, std::uint32_t ranks_of_run, const LogFacts& log);

// Completes the number of ranks of the run, and marks the errors of signatures that all of them show.
void mark_alike_failures(Diagnosis& diagnosis, const LogFacts& log);

}  // namespace ddlrun::diagnose
