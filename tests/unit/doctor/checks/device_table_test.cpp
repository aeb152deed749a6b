// SPDX-License-Identifier: MIT
// The table of device checks as a whole, and STRESS-01.
#include "doctor/gather/probe_stress.hpp"
#include "tests/support/fake_system.hpp"
#include "tests/unit/doctor/device_checks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;

TEST_SUITE_BEGIN("doctor/checks/device_table");

TEST_CASE("STRESS-01: the slow host is reported from its neighbours") {
  const auto evaluated = [](const char* pairs, const char* all) {
    DoctorInput input = ddlrun::tests::healthy_hosts(ddlrun::tests::set_gpus);
    input.add("h4");
    if (all[0] != '\0') input.driver_host.facts.set("stress.all", all);
    input.driver_host.facts.set("stress.hosts", 4);
    if (pairs[0] != '\0') input.driver_host.facts.set("stress.pairs", pairs);
    return ddlrun::tests::run_check("STRESS-01", input);
  };
  const auto equal = evaluated("h1 h2 1200\nh2 h3 1100\nh3 h4 1200\nh4 h1 1000", "900");
  REQUIRE(equal.size() == 1);
  CHECK(equal[0].verdict == Verdict::pass);
  CHECK(equal[0].observed == "0.90 GB/s over 4 hosts, 1.20 GB/s between neighbours (median)");
  CHECK(equal[0].hosts.size() == 4);
  const auto slow = evaluated("h1 h2 599\nh2 h3 120\nh3 h4 1200\nh4 h1 1200", "120");
  REQUIRE(slow.size() == 2);
  CHECK(slow[1].verdict == Verdict::warn);
  CHECK(slow[1].hosts == std::vector<std::string>{"h2"});
  CHECK(slow[1].observed == "at best 0.60 GB/s with a neighbour");
  CHECK(evaluated("h1 h2 600\nh2 h3 120\nh3 h4 1200\nh4 h1 1200", "120").size() == 1);  // exactly half
  CHECK(evaluated("", "900")[0].observed == "0.90 GB/s over 4 hosts");
  CHECK(evaluated("", "")[0].verdict == Verdict::skip);
}

TEST_CASE("the probe: all hosts, each pair, and a slow pair once more") {
  ddlrun::tests::FakeSystem system;
  Job job;
  SmokeRun run{job, {"h1", "h2", "h3", "h4"}, "/opt/ddlrun/bin/ddl-train", "mpirun"};
  std::vector<std::string> ran;
  system.processes.answer = [&](const ddlrun::Command& command) {
    const std::string hosts = *(std::find(command.begin(), command.end(), "--host") + 1);
    ran.push_back(hosts);
    CHECK(std::find(command.begin(), command.end(), "16777216") != command.end());
    const bool slow = hosts.find("h3") != std::string::npos && hosts.find("h1") == std::string::npos;
    ddlrun::ProcessResult result;
    result.out = slow ? "{\"schema\":\"ddl-train.allreduce/1\",\"seconds\":0.167772160}\n"
                      : "{\"schema\":\"ddl-train.allreduce/1\",\"seconds\":0.016777216}\n";
    return result;
  };
  auto interfaces = system.interfaces();
  const Facts facts = probe_stress(interfaces, run);
  CHECK(facts.number("stress.all") == 1500);  // 2 x 3/4 x 16 MiB in 16.777216 ms
  CHECK(facts.text("stress.pairs") == "h1 h2 1000\nh3 h4 100\nh2 h3 100\nh4 h1 1000");
  CHECK(ran == std::vector<std::string>{"h1,h2,h3,h4", "h1,h2", "h3,h4", "h2,h3", "h4,h1", "h3,h4", "h2,h3"});
  run.trainer.clear();
  CHECK(probe_stress(interfaces, run).why_missing("stress.all") == "ddl-train is not at one path on all hosts");
  system.processes.answer = [](const ddlrun::Command&) { return ddlrun::ProcessResult{}; };
  run.trainer = "/opt/ddlrun/bin/ddl-train";
  CHECK(probe_stress(interfaces, run).why_missing("stress.all") == "the allreduce over all hosts failed (MPI-06)");
}

TEST_CASE("rounds of neighbours: every host twice, never twice in one round") {
  for (const std::size_t count : {2u, 3u, 4u, 5u, 8u, 63u, 64u}) {
    CAPTURE(count);
    std::vector<int> uses(count);
    std::size_t pairs = 0;
    for (const auto& round : plan_rounds(count)) {
      std::set<std::size_t> busy;
      for (const auto& [a, b] : round) {
        CHECK(busy.insert(a).second);
        CHECK(busy.insert(b).second);
        ++uses[a];
        ++uses[b];
        ++pairs;
      }
    }
    CHECK(pairs == (count == 2 ? 1 : count));
    for (const int n : uses) CHECK(n == (count == 2 ? 1 : 2));
  }
}

TEST_CASE("the table: every check once, with all of its texts") {
  std::set<std::string> ids;
  for (const Check& check : device_checks()) {
    CAPTURE(check.id);
    CHECK(ids.insert(std::string(check.id)).second);
    CHECK(check.title.size() > 2);
    CHECK(check.why.size() > 20);
    CHECK(check.how.size() > 20);
    CHECK(check.remedy.size() > 10);
  }
  for (int i = 1; i <= 17; ++i) CHECK(ids.count((i < 10 ? "GPU-0" : "GPU-") + std::to_string(i)) == 1);
  for (int i = 1; i <= 7; ++i) CHECK(ids.count("P2P-0" + std::to_string(i)) == 1);
  for (int i = 1; i <= 12; ++i) CHECK(ids.count((i < 10 ? "IB-0" : "IB-") + std::to_string(i)) == 1);
  CHECK(ids.count("OPA-01") + ids.count("EFA-01") == 2);
}

TEST_CASE("a plain cluster: every check passes or is skipped, in one finding") {
  DoctorInput input;
  for (const char* name : {"h1", "h2", "h3", "h4"}) {
    Facts& facts = input.add(name).facts;
    facts.set("gpu.count", 0);
    facts.set("ib.count", 0);
    facts.set("efa.devices", "");
  }
  for (const Check& check : device_checks()) {
    CAPTURE(check.id);
    const auto findings = check.run(input.get());
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == Verdict::skip);
  }
}

TEST_SUITE_END();
