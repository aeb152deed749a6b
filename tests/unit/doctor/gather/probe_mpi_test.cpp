// SPDX-License-Identifier: MIT
// The smoke run: the line that is typed, what is made of the answers, and the findings of MPI-06.
#include "doctor/gather/probe_mpi.hpp"

#include "base/text/text.hpp"
#include "tests/support/doctor_run.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::run_check;

namespace {

ProcessResult answer(const std::string& out, const std::string& err = "", int status = 0) {
  ProcessResult result;
  result.out = out;
  result.err = err;
  result.exit_status = status;
  return result;
}

struct Smoke : tests::FakeSystem {
  Job job;
  std::vector<std::string> hosts{"h1", "h2"};
  std::string trainer = "/opt/bin/ddl-train";
  ProcessResult hostname = answer("h1\nh2\n");
  ProcessResult allreduce = answer(
      "{\"schema\":\"ddl-train.allreduce/1\",\"ranks\":2,\"bytes\":4,\"times\":1,\"seconds\":0.000120000}\n");

  Finding finding() {
    processes.answer = [this](const Command& command) {
      return command.back() == "allreduce" ? allreduce : hostname;
    };
    System system = interfaces();
    tests::DoctorInput input;
    input.level = Level::full;
    for (const std::string& host : hosts) input.add(host);
    input.driver_host.facts = probe_mpi(system, {job, hosts, trainer});
    return run_check("MPI-06", input)[0];
  }
};

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/probe_mpi");

TEST_CASE("the line: one rank a host, by the scheduler's own list inside a job") {
  Job job;
  const auto line = [&] { return render_shell(plan_smoke_command({job, {"h1", "h2"}, ""}, {"hostname"})); };
  CHECK(line() ==
        "mpirun -n 2 --host h1,h2 --map-by node --bind-to none --mca odls_base_max_threads 0 hostname");
  job.interface = "10.9.1.0/24";
  CHECK(line() ==
        "mpirun -n 2 --host h1,h2 --map-by node --bind-to none --mca odls_base_max_threads 0 --mca "
        "btl_tcp_if_include 10.9.1.0/24 --mca "
        "oob_tcp_if_include 10.9.1.0/24 hostname");
  job.interface = "";
  job.allocation_source = "SLURM_JOB_NODELIST";
  CHECK(line() == "mpirun -n 2 --map-by ppr:1:node --bind-to none --mca odls_base_max_threads 0 hostname");
}

TEST_CASE("MPI-06: what became of it") {
  CHECK(Smoke().finding().verdict == Verdict::pass);
  CHECK(Smoke().finding().observed.find("the first allreduce of 4 bytes in 0.1 ms") != std::string::npos);
  Smoke refused;
  refused.hostname = answer("", "-----\nbash: line 1: orted: command not found\n-----\n", 127);
  CHECK(refused.finding().verdict == Verdict::fail);
  CHECK(refused.finding().observed == "mpirun ... hostname failed: bash: line 1: orted: command not found");
  CHECK(refused.finding().remedy.note.find("SSH-05") != std::string::npos);
  CHECK(refused.finding().remedy.commands[0].find("mpirun -n 2") == 0);
  Smoke lost;
  lost.hostname = answer("h1\n");
  CHECK(lost.finding().observed == "1 of 2 ranks printed their host's name");
  Smoke hangs;
  hangs.allreduce.timed_out = true;
  CHECK(hangs.finding().verdict == Verdict::fail);
  CHECK(hangs.finding().observed.find("no end within 60 s") != std::string::npos);
  Smoke alone;
  alone.allreduce.out = "{\"ranks\":1,\"seconds\":0.1}\n{\"ranks\":1,\"seconds\":0.1}\n";
  CHECK(alone.finding().observed == "1 ranks took part in the allreduce of 2");
  Smoke without;
  without.trainer = "";
  CHECK(without.finding().verdict == Verdict::pass);
  CHECK(without.finding().observed.find("no allreduce") != std::string::npos);
  Smoke elsewhere;
  elsewhere.allreduce = answer("", "mpirun was unable to find the specified executable file", 134);
  CHECK(elsewhere.finding().verdict == Verdict::pass);
  Smoke root;
  root.environment.is_root = true;
  CHECK(root.finding().verdict == Verdict::skip);
  CHECK(root.processes.ran.empty());
  Smoke no_one;
  no_one.hosts = {};
  CHECK(no_one.finding().verdict == Verdict::skip);
  CHECK(run_check("MPI-06", tests::DoctorInput())[0].observed == "nothing is started at level quick");
}

TEST_CASE("MPI-06: slow starts") {
  struct Row {
    const char* seconds;
    Verdict verdict;
  };
  for (const Row& row :
       {Row{"0.900", Verdict::pass}, Row{"10.000", Verdict::pass}, Row{"10.001", Verdict::warn}}) {
    CAPTURE(row.seconds);
    tests::DoctorInput input;
    input.add("h1");
    input.driver_host.facts.set("smoke.seconds", row.seconds);
    input.driver_host.facts.set("smoke.count", 1);
    input.driver_host.facts.set_unknown("smoke.allreduce.latency",
                                        "ddl-train is not at one path on all hosts");
    CHECK(run_check("MPI-06", input)[0].verdict == row.verdict);
  }
}

TEST_SUITE_END();
