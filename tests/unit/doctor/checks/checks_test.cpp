// SPDX-License-Identifier: MIT
// The tables as a whole: every check that was promised is there once, explains itself, and bears an empty
// input.
#include "doctor/gather/agent.hpp"
#include "doctor/model/check.hpp"
#include "tests/support/doctor_input.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace ddlrun::doctor;

TEST_SUITE_BEGIN("doctor/checks/checks");

TEST_CASE("every check is there, once") {
  struct Row {
    const char* subject;
    int last;
  };
  const std::vector<Row> rows{{"NAME", 9}, {"SSH", 9},  {"LIM", 15}, {"CPU", 11}, {"MPI", 10}, {"GPU", 17},
                              {"P2P", 7},  {"NET", 5},  {"IB", 12},  {"OPA", 1},  {"EFA", 1},  {"DIR", 1},
                              {"DATA", 2}, {"DISK", 4}, {"TIME", 2}, {"SW", 6},   {"SCH", 5},  {"SEC", 3}};
  std::multiset<std::string> ids;
  for (const Check& check : all_checks()) ids.emplace(check.id);
  for (const Row& row : rows) {
    for (int i = 1; i <= row.last; ++i) {
      const std::string id = fmt::format("{}-{:02}", row.subject, i);
      CAPTURE(id);
      CHECK(ids.count(id) == 1);
    }
  }
  for (const std::string& id : ids) {
    CAPTURE(id);
    CHECK(ids.count(id) == 1);
  }
}

TEST_CASE("every check explains itself") {
  for (const Check& check : all_checks()) {
    CAPTURE(check.id);
    CHECK(check.title.size() > 3);
    CHECK(check.why.size() > 30);
    CHECK(check.how.size() > 30);
    CHECK(check.remedy.size() > 5);
  }
}

TEST_CASE("hosts that reported nothing alarm no one: no pass without a fact, no fail without one") {
  ddlrun::tests::DoctorInput input;
  input.level = Level::stress;
  for (const char* host : {"h1", "h2", "h3"}) input.add(host);
  for (const Check& check : all_checks()) {
    for (const Finding& finding : check.run(input.get())) {
      CAPTURE(check.id);
      CAPTURE(finding.observed);
      CHECK(finding.id == check.id);
      CHECK((finding.verdict == Verdict::skip || finding.verdict == Verdict::pass));
      CHECK(finding.observed != "");
    }
  }
}

TEST_CASE("a job on no hosts, or on hosts that do not answer, breaks no check") {
  ddlrun::tests::DoctorInput input;
  for (const Check& check : all_checks()) check.run(input.get());
  input.add("h1").reach.problem = "Connection refused";
  input.host("h1").reach.problem_kind = "refused";
  for (const Check& check : all_checks()) check.run(input.get());
}

TEST_CASE("gatherers have names of their own and limits within the time for a host") {
  std::set<std::string> names;
  for (const Gatherer& gatherer : all_gatherers()) {
    CAPTURE(gatherer.name);
    CHECK(names.emplace(gatherer.name).second);
    CHECK(gatherer.limit.count() > 0);
    CHECK(gatherer.limit.count() <= (gatherer.level == Level::quick ? 15'000 : 110'000));
  }
}

TEST_SUITE_END();
