// SPDX-License-Identifier: MIT
// Runs one check of the system subject on hosts written by hand.
#pragma once

#include "doctor/checks/system.hpp"
#include "tests/support/doctor_input.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace ddlrun::tests {

using FactTable = std::map<std::string, std::string>;

inline void set_facts(doctor::HostReport& host, const FactTable& facts) {
  for (const auto& [name, text] : facts) host.facts.set(name, text);
}

inline std::vector<doctor::Finding> run_check(const DoctorInput& input, const std::string& id) {
  for (const doctor::Check& check : doctor::system_checks()) {
    if (check.id == id) return check.run(input.get());
  }
  FAIL("no such check: " << id);
  return {};
}

// What holds for every finding: an id, and for warn and fail all that a person needs.
inline void check_complete(const doctor::Finding& finding, const std::string& id) {
  CAPTURE(id);
  CAPTURE(finding.observed);
  CHECK(finding.id == id);
  CHECK_FALSE(finding.observed.empty());
  if (finding.verdict != doctor::Verdict::warn && finding.verdict != doctor::Verdict::fail) return;
  CHECK_FALSE(finding.expected.empty());
  CHECK_FALSE(finding.why.empty());
  CHECK_FALSE(finding.remedy.commands.empty());
}

// The one finding about one host "h1" with these facts.
inline doctor::Finding judge_one(const std::string& id, const FactTable& facts, const doctor::Job& job = {},
                                 doctor::Via via = doctor::Via::ssh) {
  DoctorInput input;
  input.job = job;
  doctor::HostReport& host = input.add("h1");
  host.reach.via = via;
  set_facts(host, facts);
  set_facts(input.head, facts);
  const auto findings = run_check(input, id);
  REQUIRE(findings.size() == 1);
  check_complete(findings[0], id);
  return findings[0];
}

inline std::string verdict_of(const std::string& id, const FactTable& facts, const doctor::Job& job = {},
                              doctor::Via via = doctor::Via::ssh) {
  return std::string(doctor::verdict_name(judge_one(id, facts, job, via).verdict));
}

// `ranks` on h1 of a job that is as large, or of `all`.
inline doctor::Job job_of(std::uint32_t ranks, std::uint32_t cores_per_rank = 0, std::uint32_t all = 0) {
  doctor::Job job;
  job.ranks = all > 0 ? all : ranks;
  job.ranks_of_host["h1"] = ranks;
  job.cores_per_rank = cores_per_rank;
  return job;
}

inline doctor::Job with(doctor::Job job, const std::string& name, const std::string& value) {
  job.environment[name] = value;
  return job;
}

}  // namespace ddlrun::tests
