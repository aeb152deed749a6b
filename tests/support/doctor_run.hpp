// SPDX-License-Identifier: MIT
// Runs one check by its id, holds its findings to what every finding owes a person, and finds one of them.
#pragma once

#include "doctor/model/check.hpp"
#include "tests/support/doctor_input.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::tests {

// What holds for every finding: an id, and for warn and fail all that a person needs.
inline void check_complete(const doctor::Finding& finding, std::string_view id) {
  CAPTURE(finding.observed);
  CHECK(finding.id == id);
  CHECK_FALSE(finding.observed.empty());
  if (finding.verdict != doctor::Verdict::warn && finding.verdict != doctor::Verdict::fail) return;
  CHECK_FALSE(finding.expected.empty());
  CHECK_FALSE(finding.why.empty());
  CHECK_FALSE((finding.remedy.commands.empty() && finding.remedy.note.empty()));
}

// All findings of the check, each of them complete.
inline std::vector<doctor::Finding> run_check(std::string_view id, const DoctorInput& input) {
  CAPTURE(id);
  const auto& checks = doctor::all_checks();
  const auto has_id = [&](const doctor::Check& check) { return check.id == id; };
  const auto check = std::find_if(checks.begin(), checks.end(), has_id);
  REQUIRE(check != checks.end());
  auto findings = check->run(input.get());
  for (const doctor::Finding& finding : findings) check_complete(finding, id);
  return findings;
}

// The one finding that there is.
inline const doctor::Finding& only(const std::vector<doctor::Finding>& findings) {
  REQUIRE(findings.size() == 1);
  return findings.front();
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
