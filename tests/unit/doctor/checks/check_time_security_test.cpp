// SPDX-License-Identifier: MIT
#include "tests/unit/doctor/one_check.hpp"

#include <limits>

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

Finding at_offset(const std::string& id, double offset, double error, const FactTable& facts = {},
                  Via via = Via::ssh) {
  DoctorInput input;
  HostReport& host = input.add("h1");
  host.reach.via = via;
  host.reach.clock_offset_seconds = offset;
  host.reach.clock_error_seconds = error;
  set_facts(host, facts);
  return only(run_system_check(id, input));
}

FactTable loose(const std::string& line) {
  return {{"loose.looked", "3"}, {"loose.paths", line}, {"user.uid", "2000"}, {"user.gid", "2000"}};
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_time_security");

TEST_CASE("TIME-01: only what exceeds the measurement's error counts") {
  struct Row {
    double offset, error;
    const char* verdict;
  };
  for (const Row& row : {Row{0, 0.01, "pass"}, Row{1.0, 0, "pass"}, Row{1.01, 0, "warn"},
                         Row{-1.01, 0, "warn"}, Row{1.4, 0.5, "pass"}, Row{1.6, 0.5, "warn"},
                         Row{30, 0, "warn"}, Row{30.1, 0, "fail"}, Row{-3600, 0.2, "fail"},
                         Row{30.3, 0.5, "warn"}, Row{std::numeric_limits<double>::quiet_NaN(), 0, "skip"}}) {
    CAPTURE(row.offset);
    CAPTURE(row.error);
    CHECK(verdict_name(at_offset("TIME-01", row.offset, row.error).verdict) == row.verdict);
  }
  CHECK(verdict_name(at_offset("TIME-01", 100, 0, {}, Via::local).verdict) == "pass");
  CHECK(verdict_of("TIME-01", {}) == "skip");
  const Finding finding = at_offset("TIME-01", -3600, 0.02, {{"clock.service", "chronyd"}});
  CHECK(finding.observed == "3600 s behind the driver host's clock (+- 20 ms)");
  CHECK(finding.remedy.commands ==
        std::vector<std::string>{"systemctl enable --now chronyd", "chronyc makestep"});
}

TEST_CASE("TIME-02: a clock that nothing keeps is reported only where it is off") {
  CHECK(verdict_name(at_offset("TIME-02", 5, 0, {{"clock.synchronised", "yes"}}).verdict) == "pass");
  CHECK(verdict_name(at_offset("TIME-02", 0.5, 0, {{"clock.synchronised", "no"}}).verdict) == "pass");
  CHECK(verdict_name(at_offset("TIME-02", 1.5, 0, {{"clock.synchronised", "no"}}).verdict) == "warn");
  CHECK(verdict_of("TIME-02", {{"clock.synchronised", "no"}}) == "pass");
  CHECK(verdict_of("TIME-02", {}) == "skip");
}

TEST_CASE("SEC-02: who may change what the ranks run") {
  struct Row {
    const char *line, *verdict;
  };
  for (const Row& row : {Row{"", "pass"}, Row{"working-directory 777 2000 2000 /data/x", "fail"},
                         Row{"working-directory 1777 0 0 /tmp", "pass"},
                         Row{"working-directory 2775 2000 500 /project", "pass"},
                         Row{"executable 775 2000 500 /project/train", "warn"},
                         Row{"executable 775 2000 2000 /home/ddl/train", "pass"},  // one's own group
                         Row{"library 775 0 0 /usr/local/lib", "pass"},            // root's
                         Row{"library 777 2000 2000 /home/ddl/lib with blank", "fail"},
                         Row{"executable 755 1234 500 /apps/train", "pass"},  // an administrator's
                         Row{"executable 77x 2000 500 /a", "pass"},           // malformed: unknown
                         Row{"garbage", "pass"}}) {
    CAPTURE(row.line);
    CHECK(verdict_of("SEC-02", loose(row.line)) == row.verdict);
  }
  CHECK(verdict_of("SEC-02", {}) == "skip");
  CHECK(verdict_of("SEC-02", {{"loose.looked", "0"}}) == "skip");
  const Finding finding =
      evaluate_one("SEC-02", loose("library 777 2000 2000 /home/ddl/my lib\nexecutable 775 2000 500 /t"));
  CHECK(finding.remedy.commands == std::vector<std::string>{"chmod o-w '/home/ddl/my lib'"});
}

TEST_CASE("SEC-02: the job's own files are looked at on the driver host") {
  DoctorInput input;
  set_facts(input.add("h1"), loose(""));
  set_facts(input.driver_host,
            loose("job-file 666 2000 2000 /home/ddl/hosts\nworking-directory 777 2000 2000 /home/ddl"));
  const auto findings = run_system_check("SEC-02", input);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].verdict == Verdict::pass);
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].hosts.empty());
  CHECK(findings[1].remedy.on_driver_host);
  CHECK(findings[1].remedy.commands == std::vector<std::string>{"chmod o-w /home/ddl/hosts"});
}

TEST_CASE("SEC-03: what listens on every address") {
  CHECK(verdict_of("SEC-03", {{"listen.open", ""}, {"listen.public", "yes"}}) == "pass");
  CHECK(verdict_of("SEC-03", {{"listen.open", "6006 2000"}, {"listen.public", "no"}}) == "warn");
  CHECK(verdict_of("SEC-03", {{"listen.open", "6006 2000"}, {"listen.public", "yes"}}) == "fail");
  CHECK(verdict_of("SEC-03", {{"listen.open", "22 0"}, {"listen.public", "yes"}}) == "pass");  // sshd
  CHECK(verdict_of("SEC-03", {{"listen.open", "1023 0\n1024 0"}, {"listen.public", "yes"}}) == "fail");
  CHECK(verdict_of("SEC-03", {{"listen.open", "x"}, {"listen.public", "yes"}}) == "skip");
  CHECK(verdict_of("SEC-03", {}) == "skip");
}

TEST_CASE("PATH-01: a difference that changes a verdict names the paths") {
  DoctorInput input;
  const FactTable good{
      {"limit.memlock.soft", "8388608"}, {"limit.nofile.soft", "20000"}, {"start.path", "/usr/bin"}};
  FactTable bad = good;
  bad["limit.memlock.soft"] = "65536";
  bad["limit.nofile.soft"] = "4096";  // another number, the same verdict
  bad["start.path"] = "/usr/bin:/opt/bin";
  set_facts(input.add("h1"), good);
  set_facts(input.add("h2"), good);
  set_facts(input.add("h3"), good);
  CHECK(run_system_check("PATH-01", input)[0].verdict == Verdict::skip);
  input.other_paths.emplace_back();
  for (const char* host : {"h1", "h2", "h3"}) {
    HostReport& report = input.other_paths[0].emplace_back();
    report.host = host;
    report.reach.via = Via::srun;
    set_facts(report, host == std::string("h2") ? bad : good);
    if (host == std::string("h3")) report.reach.problem = "down";
  }
  const auto findings = run_system_check("PATH-01", input);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].verdict == Verdict::pass);
  CHECK(findings[0].observed == "the same by ssh, srun");
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].hosts == std::vector<std::string>{"h2"});
  CHECK(findings[1].observed == "memlock: 8 MiB by ssh, 64 KiB by srun");
  CHECK(findings[2].verdict == Verdict::warn);
  CHECK(findings[2].observed == "by srun: down");
  CHECK(findings[2].remedy.commands == std::vector<std::string>{"ddlrun doctor h3 --via srun"});
  // Bad by every path is LIM-01's finding, not a difference.
  set_facts(input.hosts[1], {{"limit.memlock.soft", "32768"}});
  CHECK(run_system_check("PATH-01", input)[1].verdict == Verdict::pass);
}

TEST_CASE("every check of the subject explains itself and bears hosts without facts") {
  DoctorInput input;
  input.add("h1");
  input.add("h2").reach.problem = "no route";
  std::map<std::string_view, int> ids;
  for (const Check& check : system_checks()) {
    CAPTURE(check.id);
    CHECK(++ids[check.id] == 1);
    CHECK(check.title.size() > 3);
    CHECK(check.why.size() > 20);
    CHECK(check.how.size() > 20);
    CHECK_FALSE(check.remedy.empty());
    for (const Finding& finding : check.run(input.get())) {
      CAPTURE(finding.observed);
      CHECK((finding.verdict == Verdict::skip || finding.verdict == Verdict::pass));
      CHECK(finding.id == check.id);
    }
  }
  for (const char* id :
       {"LIM-01",  "LIM-02",  "LIM-03",  "LIM-04",  "LIM-05", "LIM-06",  "LIM-07",  "LIM-08",  "LIM-09",
        "LIM-10",  "LIM-11",  "LIM-12",  "LIM-13",  "LIM-14", "LIM-15",  "CPU-04",  "CPU-05",  "CPU-07",
        "CPU-08",  "CPU-09",  "CPU-10",  "CPU-11",  "DIR-01", "DATA-01", "DATA-02", "DISK-01", "DISK-02",
        "DISK-03", "DISK-04", "TIME-01", "TIME-02", "SEC-02", "SEC-03",  "PATH-01"}) {
    CAPTURE(id);
    CHECK(ids.count(id) == 1);
  }
}

TEST_SUITE_END();
