// SPDX-License-Identifier: MIT
#include "doctor/checks/software.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::find_one;
using ddlrun::tests::run_check;

namespace {

HostReport& add_program(DoctorInput& input, const std::string& host, const std::string& hash = "aa") {
  HostReport& report = input.add(host);
  report.facts.set("program.path", "/app/train");
  report.facts.set("program.executable", "yes");
  report.facts.set("program.kind", "elf");
  report.facts.set("program.size", "100");
  report.facts.set("program.hash", hash);
  report.facts.set_list("program.missing", {});
  return report;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_programs");

TEST_CASE("SW-01: the program is there, may run, and is the same") {
  DoctorInput input;
  CHECK(run_check("SW-01", input)[0].verdict == Verdict::skip);
  input.job.program = {"/app/train"};
  for (const char* host : {"h1", "h2"}) add_program(input, host);
  CHECK(find_one(run_check("SW-01", input), Verdict::pass).hosts.size() == 2);
  input.host("h2").facts.set("program.modified", "99");  // the time alone is no matter
  CHECK(run_check("SW-01", input).size() == 1);

  add_program(input, "other", "bb");
  input.add("gone").facts.set_unknown("program.path", "no file /app/train");
  add_program(input, "no-x").facts.set("program.executable", "no");
  add_program(input, "no-python").facts.set("program.interpreter", "missing: /opt/python");
  const auto findings = run_check("SW-01", input);
  REQUIRE(findings.size() == 5);
  CHECK(findings[1].hosts == std::vector<std::string>{"other"});
  CHECK(findings[1].observed == "/app/train: 100 bytes, contents bb");
  CHECK(findings[1].expected == "100 bytes, contents aa");
  CHECK(findings[2].observed == "no file /app/train");
  CHECK(findings[2].remedy.commands ==
        std::vector<std::string>{"mkdir -p /app && scp -p h1:/app/train /app/train"});
  CHECK(findings[3].remedy.commands == std::vector<std::string>{"chmod +x /app/train"});
  CHECK(findings[4].observed.find("/opt/python") != std::string::npos);
}

TEST_CASE("SW-01: a host without python has python3") {
  DoctorInput input;
  input.job.program = {"python", "train.py"};
  for (const char* host : {"h1", "h2"}) {
    input.add(host).facts.set_unknown("program.path", "python is not in PATH");
    input.host(host).facts.set("program.near", "python3");
  }
  CHECK(find_one(run_check("SW-01", input), Verdict::fail).remedy.note.starts_with("-- python3 ...   # "));
  // One that has it is a source of it.
  input.host("h1").facts = add_program(input, "h3").facts;
  CHECK(find_one(run_check("SW-01", input), Verdict::fail).remedy.note.find("python3") == std::string::npos);
}

TEST_CASE(
    "SW-01: where the driver host has the program it is copied from there, and only to hosts that lack it") {
  DoctorInput input;
  input.job.program = {"/app/train"};
  add_program(input, "h1", "bb");  // as many of either kind: the driver host's own is the right one
  add_program(input, "h2", "aa");
  input.driver_host.facts = input.host("h2").facts;
  const Finding bad = find_one(run_check("SW-01", input), Verdict::fail);
  CHECK(bad.hosts == std::vector<std::string>{"h1"});
  CHECK(bad.remedy.on_driver_host);
  CHECK(bad.remedy.commands ==
        std::vector<std::string>{
            "for h in h1; do ssh -n \"$h\" mkdir -p /app && scp -p /app/train \"$h\":/app/train; done"});
}

TEST_CASE("SW-01: the script of an interpreter") {
  DoctorInput input;
  input.job.program = {"python3", "-u", "train.py", "--epochs", "3"};
  input.job.workdir = "/job";
  for (const char* host : {"h1", "h2", "h3"}) {
    HostReport& report = add_program(input, host);
    report.facts.set("program.file.0.name", "train.py");
    report.facts.set("program.file.0.size", "10");
    report.facts.set("program.file.0.hash", "cc");
  }
  CHECK(run_check("SW-01", input).size() == 1);
  input.host("h3").facts.set("program.file.0.hash", "dd");
  const auto findings = run_check("SW-01", input);
  CHECK(find_one(findings, Verdict::fail).hosts == std::vector<std::string>{"h3"});
  CHECK(find_one(findings, Verdict::fail).remedy.commands[0] ==
        "mkdir -p /job && scp -p h1:/job/train.py /job/train.py");
  input.host("h2").facts.set_unknown("program.file.0.size", "no file");  // h1 against h3
  for (const Finding& finding : run_check("SW-01", input)) CHECK(finding.remedy.commands.empty());
  for (const char* host : {"h1", "h2", "h3"})
    input.host(host).facts.set_unknown("program.file.0.size", "no file");
  CHECK(run_check("SW-01", input).size() == 1);  // on no host: perhaps no file at all
}

TEST_CASE("SW-02: libraries") {
  DoctorInput input;
  CHECK(run_check("SW-02", input)[0].verdict == Verdict::skip);
  input.job.program = {"/app/train"};
  HostReport& host = add_program(input, "h1");
  CHECK(run_check("SW-02", input)[0].verdict == Verdict::pass);
  host.facts.set_list("program.missing",
                      {"libcudart.so.12, needed by /app/train", "libx.so, needed by /app/train"});
  const auto findings = run_check("SW-02", input);
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].why.find("libcudart.so.12\"") != std::string::npos);
  host.facts.set("program.kind", "script");
  CHECK(run_check("SW-02", input)[0].verdict == Verdict::skip);
}

TEST_CASE("SW-03: system") {
  DoctorInput input;
  for (const char* host : {"h1", "h2", "h3"}) {
    Facts& facts = input.add(host).facts;
    facts.set("software.machine", "x86_64");
    facts.set("software.release", "6.1.0-18-amd64");
    facts.set("software.glibc", "2.36");
  }
  CHECK(find_one(run_check("SW-03", input), Verdict::pass).hosts.size() == 3);
  input.host("h2").facts.set("software.release", "5.10.0-27-amd64");
  CHECK(find_one(run_check("SW-03", input), Verdict::warn).hosts == std::vector<std::string>{"h2"});
  input.host("h2").facts.set("program.glibc", "2.36");
  CHECK(find_one(run_check("SW-03", input), Verdict::warn).hosts == std::vector<std::string>{"h2"});
  input.host("h2").facts.set("program.glibc", "2.37");
  CHECK(find_one(run_check("SW-03", input), Verdict::fail).observed == "glibc 2.36, the program needs 2.37");
  input.host("h3").facts.set("software.machine", "aarch64");
  CHECK(find_one(run_check("SW-03", input), Verdict::fail).hosts == std::vector<std::string>{"h3"});
}

TEST_CASE("SW-04: Python and torch") {
  DoctorInput input;
  CHECK(run_check("SW-04", input)[0].verdict == Verdict::skip);
  input.job.program = {"/opt/env/bin/python3.11", "train.py"};
  for (const char* host : {"h1", "h2", "h3"}) {
    Facts& facts = input.add(host).facts;
    facts.set("python.version", "3.11.2");
    facts.set("python.torch", "2.3.0+cu121");
    facts.set("python.nccl", "2.20.5");
  }
  CHECK(find_one(run_check("SW-04", input), Verdict::pass).observed ==
        "Python 3.11.2, torch 2.3.0+cu121, NCCL 2.20.5");
  input.host("h2").facts.set("python.version", "3.11.4");
  const Finding other = find_one(run_check("SW-04", input), Verdict::warn);
  CHECK(other.hosts == std::vector<std::string>{"h2"});
  CHECK(other.expected == "Python 3.11.2, torch 2.3.0+cu121, NCCL 2.20.5, as on h1, h3");
  CHECK(other.remedy.asks_each);  // a person reads h1's list before it is installed
  CHECK(other.remedy.commands ==
        std::vector<std::string>{"ssh h1 /opt/env/bin/python3.11 -m pip freeze > "
                                 "~/ddlrun_packages.txt && cat ~/ddlrun_packages.txt",
                                 "/opt/env/bin/python3.11 -m pip install -r ~/ddlrun_packages.txt"});
  input.host("h3").facts.set("python.nccl", "2.18.1");
  CHECK(find_one(run_check("SW-04", input), Verdict::fail).hosts == std::vector<std::string>{"h3"});
  for (const Finding& finding : run_check("SW-04", input)) CHECK(finding.remedy.commands.empty());
}

TEST_CASE("SW-05: modules") {
  DoctorInput input;
  for (const char* host : {"h1", "h2", "h3"})
    input.add(host).facts.set("environment.modules", "gcc/12:openmpi/4.1");
  CHECK(run_check("SW-05", input)[0].verdict == Verdict::pass);
  input.host("h2").facts.set("environment.modules", "openmpi/4.1:gcc/12");
  CHECK(find_one(run_check("SW-05", input), Verdict::warn).hosts == std::vector<std::string>{"h2"});
  input.host("h3").facts.set("environment.modules", "");
  CHECK(find_one(run_check("SW-05", input), Verdict::fail).remedy.commands.empty());  // no majority
  input.host("h2").facts.set("environment.modules", "gcc/12:openmpi/4.1");
  CHECK(find_one(run_check("SW-05", input), Verdict::fail).remedy.commands[0] ==
        into_bashrc("module load gcc/12 openmpi/4.1"));
}

TEST_CASE("SW-06: containers") {
  DoctorInput input;
  CHECK(run_check("SW-06", input)[0].verdict == Verdict::skip);
  input.job.program = {"apptainer", "exec", "train.sif", "./train"};
  Facts& facts = input.add("h1").facts;
  CHECK(run_check("SW-06", input)[0].verdict == Verdict::fail);
  facts.set("container.runtime", "/usr/bin/apptainer");
  facts.set("container.image", "yes");
  facts.set("container.namespaces", "28633");
  CHECK(run_check("SW-06", input)[0].verdict == Verdict::pass);
  facts.set("container.namespaces", "0");
  CHECK(run_check("SW-06", input)[0].verdict == Verdict::fail);
  facts.set("container.namespaces", "1");
  facts.set("container.image", "no: /job/train.sif");
  CHECK(run_check("SW-06", input)[0].observed == "image /job/train.sif is not there");
}

TEST_CASE("SCH: the scheduler and its view of the hosts") {
  DoctorInput input;
  for (const char* id : {"SCH-01", "SCH-02", "SCH-03", "SCH-04", "SCH-05"})
    CHECK(run_check(id, input)[0].verdict == Verdict::skip);
  input.driver_host.facts.set_unknown("scheduler.slurm.answer", "no answer within 5 s");
  CHECK(run_check("SCH-01", input)[0].verdict == Verdict::warn);
  CHECK(run_check("SCH-05", input)[0].verdict == Verdict::skip);
  input.job.allocation_source = "SLURM_JOB_NODELIST";
  CHECK(run_check("SCH-01", input)[0].verdict == Verdict::fail);
  input.driver_host.facts.set("scheduler.slurm.answer", "ok");
  input.driver_host.facts.set_list("scheduler.slurm.states", {"3 idle", "1 drained"});
  CHECK(run_check("SCH-01", input)[0].observed == "Slurm answers: 3 idle, 1 drained");
  struct Row {
    const char* state;
    Verdict verdict;
  };
  for (const Row& row : {Row{"idle", Verdict::pass}, Row{"allocated", Verdict::pass},
                         Row{"mixed", Verdict::pass}, Row{"completing", Verdict::pass},
                         Row{"drained|bad disk", Verdict::fail}, Row{"draining|bad disk", Verdict::fail},
                         Row{"down", Verdict::fail}, Row{"down*|Not responding", Verdict::fail},
                         Row{"idle*", Verdict::skip}, Row{"idle~", Verdict::pass}}) {
    CAPTURE(row.state);
    DoctorInput nodes;
    nodes.driver_host.facts.set("scheduler.slurm.answer", "ok");
    nodes.driver_host.facts.set("scheduler.slurm.node.h1", row.state);
    nodes.add("h1.cluster");
    CHECK(run_check("SCH-05", nodes)[0].verdict == row.verdict);
    if (row.verdict == Verdict::skip) continue;
    nodes.add("elsewhere");
    CHECK(find_one(run_check("SCH-05", nodes), Verdict::skip).hosts == std::vector<std::string>{"elsewhere"});
  }
}

TEST_CASE("SCH: a scheduler that cannot be asked is no fault, a daemon that is silent is") {
  DoctorInput input;
  for (const auto& [fact, why] : {std::pair{"scheduler.slurm.answer", "no sinfo in PATH"},
                                  std::pair{"scheduler.pbs.answer", "no qstat in PATH"}}) {
    DoctorInput without;
    without.driver_host.facts.set_unknown(fact, why);
    CHECK(run_check("SCH-01", without)[0].verdict == Verdict::skip);
  }
  input.driver_host.facts.set("scheduler.slurm.answer", "ok");
  input.driver_host.facts.set("scheduler.slurm.node.h1", "down*|Not responding");
  input.add("h1");
  const Finding finding = run_check("SCH-05", input)[0];
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.observed.find("down*") != std::string::npos);
  CHECK(finding.remedy.commands == std::vector<std::string>{"systemctl restart slurmd"});
  CHECK_FALSE(finding.remedy.on_driver_host);
}

TEST_CASE("SCH-05: many drained nodes of one reason are one finding") {
  DoctorInput input;
  input.driver_host.facts.set("scheduler.slurm.answer", "ok");
  for (const char* host : {"n1", "n2.cluster", "n3"}) input.add(host);
  input.driver_host.facts.set("scheduler.slurm.node.n1", "drained|bad disk");
  input.driver_host.facts.set("scheduler.slurm.node.n2", "drained|bad disk");
  input.driver_host.facts.set("scheduler.slurm.node.n3", "idle");
  const auto findings = run_check("SCH-05", input);
  CHECK(findings.size() == 2);
  const Finding bad = find_one(findings, Verdict::fail);
  CHECK(bad.hosts == std::vector<std::string>{"n1", "n2.cluster"});
  CHECK(bad.observed == "Slurm holds it for drained (bad disk)");
  CHECK(bad.remedy.commands == std::vector<std::string>{"scontrol update NodeName=n1,n2 State=RESUME"});
}

TEST_SUITE_END();
