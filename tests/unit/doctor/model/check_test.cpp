// SPDX-License-Identifier: MIT
#include "doctor/model/check.hpp"

#include "tests/support/doctor_input.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

namespace {

CheckResult by_memlock(const HostReport& host) {
  const auto seen = host.facts.text("limit.memlock.soft");
  if (!seen) return skip(host.facts.why_missing("limit.memlock.soft"));
  if (*seen == "unlimited") return pass("unlimited");
  return {
      Verdict::fail, std::string(*seen), "unlimited", "registration fails", {{"ulimit -l"}, true, false, ""}};
}

}  // namespace

TEST_SUITE_BEGIN("doctor/model/check");

TEST_CASE("equal results of hosts are one finding") {
  ddlrun::tests::DoctorInput input;
  input.add("h1").facts.set("limit.memlock.soft", "unlimited");
  input.add("h2").facts.set("limit.memlock.soft", "65536");
  input.add("h3").facts.set("limit.memlock.soft", "unlimited");
  input.add("h4").facts.set("limit.memlock.soft", "65536");
  input.add("h5").facts.set_unknown("limit.memlock.soft", "no /proc");
  input.add("h6").reach.problem = "Connection refused";
  const auto findings = evaluate_each(input.get(), "LIM-01", by_memlock);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].hosts == std::vector<std::string>{"h1", "h3"});
  CHECK(findings[1].hosts == std::vector<std::string>{"h2", "h4"});
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[2].observed == "no /proc");
}

TEST_CASE("a gatherer that failed on a host is an error there, not a verdict") {
  ddlrun::tests::DoctorInput input;
  input.add("h1").facts.set("limit.memlock.soft", "unlimited");
  input.add("h2").failed_gatherers["limits"] = "no answer within 5 s";
  const auto findings = evaluate_each(input.get(), "LIM-01", by_memlock, "limits");
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].verdict == Verdict::error);
  CHECK(findings[1].observed == "the gatherer 'limits' failed there: no answer within 5 s");
}

TEST_CASE("values that should be equal: the deviants are named, the majority is not") {
  ddlrun::tests::DoctorInput input;
  for (const char* host : {"h1", "h2", "h3", "h4"}) input.add(host).facts.set("mpi.version", "4.1.4");
  input.host("h3").facts.set("mpi.version", "4.0.7");
  input.add("h5").facts.set_unknown("mpi.version", "no mpirun");
  const auto value = [](const HostReport& host) -> std::optional<std::string> {
    const auto seen = host.facts.text("mpi.version");
    return seen ? std::optional(std::string(*seen)) : std::nullopt;
  };
  const auto findings = check_equal(input.get(), "MPI-01", Verdict::fail, value, {}, "no Open MPI there");
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].verdict == Verdict::skip);
  CHECK(findings[0].hosts == std::vector<std::string>{"h5"});
  CHECK(findings[1].hosts == std::vector<std::string>{"h3"});
  CHECK(findings[1].observed == "4.1.4 on 3 hosts; 4.0.7 on 1 host");
  CHECK(findings[1].expected == "4.1.4, as on most");
}

TEST_CASE("segments of fact names") {
  Facts facts;
  facts.set("net.eth0.mtu", 1500);
  facts.set("net.eth0.up", "yes");
  facts.set("net.ib0.mtu", 2044);
  facts.set("network", "no");
  CHECK(facts.segments("net.") == std::vector<std::string>{"eth0", "ib0"});
  CHECK(facts.number("net.ib0.mtu") == 2044);
  CHECK(facts.why_missing("net.ib0.up") == "not gathered");
}

TEST_CASE("no relay decides alone what is right") {
  ddlrun::tests::DoctorInput input;
  const auto add = [&](int count, const char* value, const char* relay) {
    for (int i = 0; i < count; ++i) {
      HostReport& host = input.add("h" + std::to_string(input.hosts.size()));
      host.facts.set("python", value);
      host.reach.relay = relay;
    }
  };
  const auto decided = [&] {
    return has_majority(group_by_value(input.get(), [](const HostReport& host) -> std::optional<std::string> {
      return std::string(host.facts.text("python").value_or(""));
    }));
  };
  add(20, "3.11", "r1");
  add(2, "3.9", "");
  CHECK(!decided());  // all but two by one relay's word
  add(3, "3.11", "");
  CHECK(decided());
  add(4, "3.9", "r2");
  CHECK(!decided());  // without r1: 3 to 6
}

TEST_SUITE_END();
