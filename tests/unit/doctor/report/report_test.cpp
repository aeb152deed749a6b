// SPDX-License-Identifier: MIT
// What people, programs and shells get to read; bash itself reads the script.
#include "doctor/report/report.hpp"

#include "base/os/posix_system.hpp"
#include "base/text/error.hpp"
#include "tests/support/doctor_input.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

std::vector<Finding> throws(const CheckInput&) { throw std::runtime_error("broken"); }
std::vector<Finding> passes(const CheckInput&) { return single_finding("LIM-02", pass("fine")); }

const std::vector<Check> checks{
    {"LIM-01", "locked memory", Level::quick, Place::host, "why", "how", "mend", throws},
    {"LIM-02", "submit limits", Level::quick, Place::driver_host, "why", "how", "mend", passes},
    {"NET-03", "TCP between hosts", Level::full, Place::pairs, "why", "how", "mend", passes},
};

Examination one_of_each() {
  Examination examination;
  examination.hosts = {"h1", "h2", "h3", "h4"};
  examination.findings = {
      {"LIM-02", Verdict::pass, {"h1"}, "fine", "", "", {}},
      {"NET-03", Verdict::skip, {}, "needs --full", "", "", {}},
      {"LIM-01",
       Verdict::fail,
       {"h2", "h4"},
       "64 KiB\x1b[2J",
       "unlimited",
       "registration fails",
       {{"echo 'it'\"'\"'s'; echo '$(id)' >/dev/null"}, true, false, "log in again"}},
  };
  return examination;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/report/report");

TEST_CASE("the report: failures first, hosts folded, control bytes harmless") {
  const std::string text = render_report(one_of_each(), checks, {});
  CHECK(text.starts_with("fail  LIM-01  locked memory\n  at    h[2,4] (2 of 4)\n  is    64 KiB\\x1b[2J\n"));
  CHECK(text.find("try   there, as root:") != std::string::npos);
  CHECK(text.find("needs --full: NET-03") != std::string::npos);
  CHECK(text.find("3 checks in 0.0 s: 1 pass, 1 fail, 1 skip (--all shows why)\n") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(render_report(one_of_each(), checks, {true, false}).find("\x1b[31mfail") != std::string::npos);
}

TEST_CASE("a check that throws is an error finding, and the others run") {
  tests::DoctorInput input;
  const auto findings = run_checks(checks, input.get());
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].verdict == Verdict::error);
  CHECK(findings[0].observed == "the check failed with an error: broken");
  CHECK(findings[1].verdict == Verdict::pass);
}

TEST_CASE("which checks run") {
  const auto ids = [](const CheckChoice& choice) {
    std::string text;
    for (const Check& check : choose_checks(choice, checks)) text += std::string(check.id) + " ";
    return text;
  };
  CHECK(ids({}) == "LIM-01 LIM-02 ");
  CHECK(ids({Level::full, {}, {}}) == "LIM-01 LIM-02 NET-03 ");
  CHECK(ids({Level::quick, {"lim"}, {"LIM-01"}}) == "LIM-02 ");
  CHECK(ids({Level::quick, {"NET-03"}, {}}) == "NET-03 ");
  CHECK_THROWS_WITH_AS(ids({Level::quick, {"LIM-09"}, {}}), "there is no check 'LIM-09'", Error);
  CHECK(find_check("lim-01", checks).title == "locked memory");
}

TEST_CASE("several paths are compared, whatever --only names") {
  const auto ids = [](const CheckChoice& choice, std::size_t paths) {
    std::string text;
    for (const Check& check : choose_checks(with_path_check(choice, paths), all_checks()))
      text += std::string(check.id) + " ";
    return text;
  };
  CHECK(ids({Level::quick, {"LIM-01"}}, 1) == "LIM-01 ");
  CHECK(ids({Level::quick, {"LIM-01"}}, 2) == "LIM-01 PATH-01 ");
  CHECK(ids({Level::quick, {"LIM-01", "PATH"}}, 2) == "LIM-01 PATH-01 ");
  CHECK(ids({Level::quick, {"LIM-01"}, {"PATH"}}, 2) == "LIM-01 ");
}

TEST_CASE("the fix script: bash reads it, and a step hands over exactly its command") {
  const std::string script = render_fix_script(one_of_each(), checks);
  PosixProcesses processes;
  CHECK(processes.run({"bash", "-n", "-c", script}, {}).ok());
  // A stand-in for ssh runs what a host would run: one shell, one text.
  PosixFiles files;
  const std::string dir = files.make_directory("/tmp/ddlrun-report-test.");
  files.write(dir + "/ssh",
              "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n"
              "echo \"on $2\"; sudo() { \"$@\"; }; eval \"$3\"\n");
  files.write(dir + "/mend.sh", script);
  const ProcessResult done = processes.run(
      {"bash", "-c", "chmod 700 \"$1/ssh\"; echo yes | DDLRUN_SSH=$1/ssh bash \"$1/mend.sh\"", "sh", dir},
      {});
  CHECK(done.out.find("on h2\nit's\non h4\nit's\n") != std::string::npos);
  const ProcessResult refused =
      processes.run({"bash", "-c", "echo no | DDLRUN_SSH=$1/ssh bash \"$1/mend.sh\"", "sh", dir}, {});
  CHECK(refused.out.find("on h2") == std::string::npos);
}

TEST_CASE("a command is shown whole or not at all") {
  Examination examination = one_of_each();
  std::string& command = examination.findings.back().remedy.commands.front();
  command = "echo " + std::string(longest_command - 6, 'x') + ";";
  CHECK(render_report(examination, checks, {}).find(command) != std::string::npos);
  const std::string script = render_fix_script(examination, checks);
  const auto asked = script.find(command);
  CHECK(script.find(command, asked + 1) != std::string::npos);  // shown, then run
  command += " rm -r x";
  CHECK(render_report(examination, checks, {}).find("xxx") == std::string::npos);
  const std::string without = render_fix_script(examination, checks);
  CHECK(without.find("xxx") == std::string::npos);
  CHECK(without.find("# The command is too long to be shown here: see doctor --json.") != std::string::npos);
}

TEST_CASE("the summary says by which way the hosts were reached") {
  const auto lead = [](std::vector<std::string> hosts, std::size_t local) {
    Examination examination;
    examination.hosts = std::move(hosts);
    examination.local = local;
    const std::string text = render_report(examination, {}, {});
    return text.substr(0, text.find(", quick"));
  };
  CHECK(lead({"h1", "h2"}, 0) == "2 hosts by ssh");
  CHECK(lead({"vm"}, 1) == "this host");
  CHECK(lead({"vm", "h2"}, 1) == "2 hosts by ssh");
}

TEST_CASE("the summary and the document name the paths that reached no host") {
  struct Row {
    std::vector<Via> paths;
    std::vector<std::string> unreached;
    std::vector<LostPath> lost;
    std::size_t local;
    std::string lead, end;
  };
  const std::vector<std::string> both{"h1", "h2"};
  const std::vector<Row> rows{
      {{Via::ssh, Via::srun}, {}, {}, 0, "2 hosts by ssh and srun", "0 pass\n"},
      {{Via::ssh, Via::srun},
       {},
       {{Via::srun, both}},
       0,
       "2 hosts by ssh",
       "; not reached by srun: h[1-2]\n"},
      {{Via::ssh, Via::srun},
       {},
       {{Via::srun, {"h2"}}},
       0,
       "2 hosts by ssh and srun",
       "; not reached by srun: h2\n"},
      {{Via::ssh, Via::srun}, both, {}, 0, "2 hosts by srun", "; not reached by ssh: h[1-2]\n"},
      {{Via::ssh, Via::srun},
       both,
       {{Via::srun, both}},
       0,
       "2 hosts",
       "; not reached by ssh: h[1-2]; not reached by srun: h[1-2]\n"},
      {{Via::ssh, Via::srun}, {}, {{Via::srun, both}}, 2, "this host", "; not reached by srun: h[1-2]\n"},
      {{Via::ssh}, {"h2"}, {}, 0, "2 hosts by ssh", "; not reached: h2\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.end);
    Examination examination;
    examination.hosts = both;
    examination.paths = row.paths;
    examination.unreached = row.unreached;
    examination.lost = row.lost;
    examination.local = row.local;
    const std::string text = render_report(examination, {}, {});
    CHECK(text.substr(0, text.find(", quick")) == row.lead);
    CHECK(text.ends_with(row.end));
    const auto document = nlohmann::json::parse(render_report_json(examination, {}));
    CHECK(document["unreached_by"].size() == row.lost.size());
    for (const LostPath& lost : row.lost) CHECK(document["unreached_by"]["srun"] == lost.hosts);
  }
}

TEST_SUITE_END();
