// SPDX-License-Identifier: MIT
// A fact of one host never becomes a command on another host or on the driver host. Every fact that this
// machine reports is replaced on one of the hosts by text that a shell would run.
#include "doctor/checks/examination.hpp"
#include "doctor/gather/agent.hpp"
#include "doctor/model/check.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/real_host.hpp"
#include "tests/support/shell_leak.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::may_run;

namespace {

const std::vector<std::string> payloads = {"$(>P1)", "`>P2`", "';>P3;'", "\n>P4\n"};

// The values to try: the payload alone, behind the true value, as an item of its list, and as a word of its
// line.
std::vector<std::string> mangled(const std::string& value, const std::string& payload) {
  const std::string word = value.substr(0, value.find(' '));
  return {value + payload, "/opt/x" + payload + "/bin/mpirun", word + " 6.6.6.6" + payload, payload};
}

DoctorInput input_of(const Facts& facts, std::size_t hosts) {
  DoctorInput input;
  input.level = Level::full;
  input.job.program = {"python3", "train.py"};
  input.job.ranks = 8;
  input.job.workdir = "/work";
  input.job.data_paths = {"/data"};
  input.driver_host.facts = facts;
  for (std::size_t i = 0; i < hosts; ++i) input.add(fmt::format("h{}", i + 1)).facts = facts;
  return input;
}

// What the remedies for other hosts than h1 would run.
std::string leak_of(const DoctorInput& input, const std::string& payload) {
  for (const Finding& finding : run_checks(all_checks(), input.get())) {
    const auto& hosts = finding.hosts;
    const bool elsewhere =
        finding.remedy.on_driver_host || hosts.empty() ||
        std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) { return host != "h1"; });
    for (const std::string& command : finding.remedy.commands) {
      if (elsewhere && may_run(command, payload)) return fmt::format("{}: {}", finding.id, command);
    }
  }
  return {};
}

// The first remedy that `name` of h1 leaks into, with and without the same fact of the others.
std::string leak_through(const Facts& facts, const std::string& name) {
  const std::string value(facts.text(name).value_or(""));
  for (const std::string& payload : payloads) {
    for (const std::string& text : mangled(value, payload)) {
      for (const bool others_have_it : {true, false}) {
        DoctorInput input = input_of(facts, 2);
        if (!others_have_it) {
          input.driver_host.facts.set_unknown(name, "not found");
          input.host("h2").facts.set_unknown(name, "not found");
        }
        input.host("h1").facts.set(name, text);
        const std::string leak = leak_of(input, payload);
        if (!leak.empty()) return text + " -> " + leak;
      }
    }
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/foreign_facts");

TEST_CASE("may_run sees what a shell would run") {
  CHECK(may_run("echo $(>P1)", "$(>P1)"));
  CHECK_FALSE(may_run("echo '$(>P1)'", "$(>P1)"));
  CHECK(may_run("echo 'a'$(>P1)'b'", "$(>P1)"));
  CHECK(may_run("ssh h '$(>P1)'", "$(>P1)"));
  CHECK_FALSE(may_run("ls", "$(>P1)"));
}

TEST_CASE("no fact of one host becomes a command elsewhere") {
  ddlrun::tests::RealHost machine;
  ProbeRequest request;
  request.names = {"h1", "h2", "localhost"};
  request.executable = "python3";
  const Facts facts = gather_facts(machine.interfaces, request, all_gatherers()).facts;
  REQUIRE(facts.all().size() > 100);
  std::vector<std::string> names;
  for (const auto& [name, fact] : facts.all()) names.push_back(name);
  for (const char* more :
       {"environment.modules", "mpi.program.mpirun", "mpi.version", "python.version", "user.uid", "user.gid"})
    names.emplace_back(more);
  for (const std::string& name : names) {
    const std::string leak = leak_through(facts, name);
    CAPTURE(name);
    CHECK(leak == "");
  }
}

TEST_SUITE_END();
