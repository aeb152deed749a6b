// SPDX-License-Identifier: MIT
// Runs one check of the tables, and finds its findings.
#pragma once

#include "doctor/check.hpp"
#include "tests/support/doctor_input.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::tests {

inline std::vector<doctor::Finding> run_check(std::span<const doctor::Check> table, std::string_view id,
                                              const DoctorInput& input) {
  for (const doctor::Check& check : table) {
    if (check.id != id) continue;
    auto findings = check.run(input.get());
    for (const doctor::Finding& finding : findings) {
      if (finding.id != id) throw std::logic_error("a finding of another check: " + finding.id);
      const bool bad = finding.verdict == doctor::Verdict::warn || finding.verdict == doctor::Verdict::fail;
      if (bad && (finding.why.empty() || finding.expected.empty() ||
                  (finding.remedy.commands.empty() && finding.remedy.note.empty())))
        throw std::logic_error("a finding without why, expected or remedy: " + finding.observed);
    }
    return findings;
  }
  throw std::logic_error("no such check");
}
inline std::vector<doctor::Finding> run_check(std::string_view id, const DoctorInput& input) {
  return run_check(doctor::software_checks(), id, input);
}

// The only finding with that verdict.
inline const doctor::Finding& find_one(const std::vector<doctor::Finding>& findings,
                                       doctor::Verdict verdict) {
  const auto is = [&](const doctor::Finding& finding) { return finding.verdict == verdict; };
  if (std::count_if(findings.begin(), findings.end(), is) != 1)
    throw std::logic_error("not exactly one finding of that verdict");
  return *std::find_if(findings.begin(), findings.end(), is);
}

}  // namespace ddlrun::tests
