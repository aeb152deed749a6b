// SPDX-License-Identifier: MIT
// Runs one check on one host whose facts stand in a table, and tables of such hosts.
#pragma once

#include "doctor/model/check.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace ddlrun::tests {

using FactTable = std::map<std::string, std::string>;

inline void set_facts(doctor::HostReport& host, const FactTable& facts) {
  for (const auto& [name, text] : facts) host.facts.set(name, text);
}

// The same for a check of the system subject, where a remedy has commands, unless only one
// host reports what they would be made of.
inline std::vector<doctor::Finding> run_system_check(std::string_view id, const DoctorInput& input) {
  auto findings = run_check(id, input);
  for (const doctor::Finding& finding : findings) {
    if (finding.verdict != doctor::Verdict::warn && finding.verdict != doctor::Verdict::fail) continue;
    CAPTURE(finding.observed);
    CHECK((!finding.remedy.commands.empty() ||
           finding.remedy.note.starts_with("no command, as it is reported by")));
  }
  return findings;
}

// The one finding about one host "h1" with these facts.
inline doctor::Finding evaluate_one(const std::string& id, const FactTable& facts,
                                    const doctor::Job& job = {}, doctor::Via via = doctor::Via::ssh) {
  DoctorInput input;
  input.job = job;
  doctor::HostReport& host = input.add("h1");
  host.reach.via = via;
  set_facts(host, facts);
  set_facts(input.driver_host, facts);
  return only(run_system_check(id, input));
}

inline std::string verdict_of(const std::string& id, const FactTable& facts, const doctor::Job& job = {},
                              doctor::Via via = doctor::Via::ssh) {
  return std::string(doctor::verdict_name(evaluate_one(id, facts, job, via).verdict));
}

// A row of a table: what one host's facts, or the job, make of a check.
struct FactRow {
  const char *id, *verdict;
  FactTable facts;
  doctor::Job job = {};
};

inline void check_rows(const std::vector<FactRow>& rows) {
  for (const FactRow& row : rows) {
    std::string facts, environment;
    for (const auto& [name, text] : row.facts) facts += name + "=" + text + " ";
    for (const auto& [name, text] : row.job.environment) environment += name + "=" + text + " ";
    CAPTURE(facts);
    CAPTURE(environment);
    CAPTURE(row.job.ranks);
    CAPTURE(row.id);
    CHECK(verdict_of(row.id, row.facts, row.job) == row.verdict);
  }
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
