// SPDX-License-Identifier: MIT
// The rankfile against the job and the hosts; what the linter itself finds is tested with it.
#include "doctor/checks/software.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::find_one;
using ddlrun::tests::run_check;

namespace {

constexpr const char* two_by_two = "0: 0;1\n1: 2;3";  // two packages of two cores

DoctorInput with_rankfile(const std::string& text, std::uint32_t ranks = 0) {
  DoctorInput input;
  input.job.rankfile_path = "job.rf";
  input.job.rankfile_text = text;
  input.job.ranks = ranks;
  return input;
}

}  // namespace

TEST_CASE("MPI-08: form, order, number of ranks") {
  struct Row {
    const char *title, *text;
    std::uint32_t ranks;
    Verdict verdict;
  };
  for (const Row& row :
       {Row{"well formed", "rank 0=h1 slot=0:0\nrank 1=h2 slot=0:0\n", 2, Verdict::pass},
        Row{"a trailing blank", "rank 0=h1 slot=0:0 \nrank 1=h2 slot=0:0\n", 2, Verdict::pass},
        Row{"a gap", "rank 0=h1 slot=0:0\nrank 2=h2 slot=0:0\n", 2, Verdict::fail},
        Row{"twice", "rank 0=h1 slot=0:0\nrank 0=h2 slot=0:0\n", 2, Verdict::fail},
        Row{"rank 0 not first", "rank 1=h1 slot=0:0\nrank 0=h2 slot=0:0\n", 2, Verdict::fail},
        Row{"Windows line ends", "rank 0=h1 slot=0:0\r\nrank 1=h2 slot=0:0\r\n", 2, Verdict::fail},
        Row{"fewer than -n", "rank 0=h1 slot=0:0\n", 2, Verdict::fail},
        Row{"a name is no matter of form", "rank 0=h_1 slot=0:0\n", 1, Verdict::pass},
        Row{"an overlap is no matter of form", "rank 0=h1 slot=0:0\nrank 1=h1 slot=0:0\n", 2,
            Verdict::pass}}) {
    CAPTURE(row.title);
    const auto findings = run_check("MPI-08", with_rankfile(row.text, row.ranks));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == row.verdict);
  }
  CHECK(run_check("MPI-08", DoctorInput())[0].verdict == Verdict::skip);
}

TEST_CASE("MPI-08: what can be mended is mended, the rest is written anew") {
  auto input = with_rankfile("rank 1=h1 slot=0:0\nrank 0=h2 slot=0:0\n", 2);
  input.add("h1");
  input.add("h2");
  CHECK(run_check("MPI-08", input)[0].remedy.commands ==
        std::vector<std::string>{"ddlrun check-rankfile job.rf --fix > job.rf.new && mv job.rf.new job.rf"});
  input.job.rankfile_text = "rank 0=h1 slot=0:0\nrank 2=h2 slot=0:0\n";
  input.job.ranks_of_host = {{"h1", 1}, {"h2", 1}};
  CHECK(run_check("MPI-08", input)[0].remedy.commands ==
        std::vector<std::string>{"ddlrun gen-rankfile 1x2 h1,h2 > job.rf.new && mv job.rf.new job.rf"});
}

TEST_CASE("MPI-08: -n against --dims") {
  DoctorInput input;
  input.job.dims = ddlrun::topology::parse_dims("1x2x1");
  input.job.ranks = 2;
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::skip);
  input.job.ranks = 3;
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::fail);
}

TEST_CASE("MPI-08: nobody who gave no -n is told what it asks for") {
  // Without -n the job has as many ranks as the file has lines.
  const auto findings = run_check("MPI-08", with_rankfile("rank 0=h1 slot=0:0\nrank 2=h2 slot=0:0\n", 2));
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].observed.find("-n asks") == std::string::npos);
}

TEST_CASE("MPI-08: the shape that the program is told, as in the run of January 2018") {
  std::string text = "#dims = 4x2x1\n";
  for (int rank = 0; rank < 8; ++rank)
    text += "rank " + std::to_string(rank) + "=h" + std::to_string(rank % 2 + 1) +
            " slot=" + std::to_string(rank / 4) + ":" + std::to_string(rank / 2 % 2) + "\n";
  auto input = with_rankfile(text, 8);
  input.job.program = {"python", "mnist.py", "-mode", "b:4x1x1"};
  const auto findings = run_check("MPI-08", input);
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].observed == "the program is told -mode 4x1x1 (4 ranks), the job is 4x2x1 (8 ranks)");
  CHECK(findings[0].remedy.commands ==
        std::vector<std::string>{"mpirun -n 8 -rf job.rf python mnist.py -mode b:4x2x1"});
  input.job.program[3] = "b:4x2x1";
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::pass);
  input.job.program = {"python", "mnist.py", "-mode", "b"};
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::pass);
}

TEST_CASE("CPU-02: slots on the real cores of each host, which may differ") {
  auto input = with_rankfile("rank 0=h1 slot=1:1\nrank 1=h2 slot=1:1\nrank 2=h3 slot=0:0\n", 3);
  input.add("h1").facts.set("cores.map", two_by_two);
  input.add("h2").facts.set("cores.map", "0: 0;1");
  CHECK(find_one(run_check("CPU-02", input), Verdict::fail).hosts == std::vector<std::string>{"h2"});
  CHECK(run_check("CPU-02", input)[0].observed.find("package 1") != std::string::npos);
  input.host("h2").facts.set("cores.map", two_by_two);
  const auto unknown = run_check("CPU-02", input);
  CHECK(unknown[0].verdict == Verdict::skip);
  CHECK(unknown[0].observed.find("1 name") != std::string::npos);
  input.add("h3.cluster").facts.set("cores.map", two_by_two);  // Open MPI cuts at the dot
  CHECK(run_check("CPU-02", input)[0].verdict == Verdict::pass);
  CHECK(run_check("CPU-02", with_rankfile("rank 0=h1 slot=0:0\n"))[0].verdict == Verdict::skip);
}

TEST_CASE("CPU-02: hardware threads are no cores") {
  auto input = with_rankfile("rank 0=h1 slot=0:2\n", 1);
  input.add("h1").facts.set("cores.map", "0: 0,2;1,3");
  CHECK(run_check("CPU-02", input)[0].verdict == Verdict::fail);
  input.job.rankfile_text = "rank 0=h1 slot=0:1\n";
  CHECK(run_check("CPU-02", input)[0].verdict == Verdict::pass);
}

TEST_CASE("CPU-02: a name of another interface leads to its host") {
  auto input = with_rankfile("rank 0=ib1 slot=0:2\n", 1);
  HostReport& host = input.add("h1");
  host.facts.set("cores.map", two_by_two);
  host.facts.set_list("net.interfaces", {"ib0 up mtu=1500 addr=10.9.1.1/24"});
  input.head.facts.set_list("name.table", {"ib1 10.9.1.1"});
  CHECK(run_check("CPU-02", input)[0].verdict == Verdict::fail);
}

TEST_CASE("CPU-03: cores that two ranks share") {
  auto input = with_rankfile("rank 0=h1 slot=0:0-1\nrank 1=h1 slot=0:1\nrank 2=h2 slot=0:0\n", 3);
  const auto findings = run_check("CPU-03", input);
  const Finding& bad = find_one(findings, Verdict::fail);
  CHECK(bad.hosts == std::vector<std::string>{"h1"});
  CHECK(bad.observed.find("ranks 0 and 1") != std::string::npos);
  input.job.rankfile_text = "rank 0=h1 slot=0:0\nrank 1=h1 slot=0:1\n";
  CHECK(run_check("CPU-03", input)[0].verdict == Verdict::pass);
  // The same core by its number in the package and in the machine: only the machine tells.
  input.job.rankfile_text = "rank 0=h1 slot=1:0\nrank 1=h1 slot=2\n";
  input.add("h1").facts.set("cores.map", two_by_two);
  CHECK(run_check("CPU-03", input)[0].verdict == Verdict::fail);
  CHECK(run_check("CPU-03", DoctorInput())[0].verdict == Verdict::skip);
}

TEST_CASE("CPU-01: kinds of machines") {
  DoctorInput input;
  for (const char* host : {"h1", "h2"}) input.add(host).facts.set("cores.map", two_by_two);
  CHECK(find_one(run_check("CPU-01", input), Verdict::pass).observed == "2 packages x 2 cores x 1 threads");
  input.add("h3").facts.set("cores.map", "0: 0;1");
  input.add("h4").facts.set_unknown("cores.map", "no processor could be read");
  CHECK(find_one(run_check("CPU-01", input), Verdict::warn).hosts == std::vector<std::string>{"h3"});
  CHECK(find_one(run_check("CPU-01", input), Verdict::skip).hosts == std::vector<std::string>{"h4"});
  input.job.ranks_of_host = {{"h3", 2}};
  input.job.cores_per_rank = 1;
  CHECK(find_one(run_check("CPU-01", input), Verdict::warn).hosts == std::vector<std::string>{"h3"});
  input.job.cores_per_rank = 2;
  CHECK(find_one(run_check("CPU-01", input), Verdict::fail).observed.find("2 cores") != std::string::npos);
}

TEST_CASE("CPU-01: other numbers of the same processors are the same kind") {
  DoctorInput input;
  input.add("h1").facts.set("cores.map", "0: 0;1");
  input.add("h2").facts.set("cores.map", "0: 4;5");
  CHECK(run_check("CPU-01", input).size() == 1);
}

TEST_CASE("CPU-06: what the scheduler gave") {
  DoctorInput input;
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::skip);
  Facts& facts = input.head.facts;
  facts.set("environment.SLURM_JOB_ID", "7");
  facts.set("environment.SLURM_CPUS_ON_NODE", "8");
  facts.set("environment.SLURM_NTASKS_PER_NODE", "4");
  facts.set("environment.SLURM_CPUS_PER_TASK", "2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::pass);
  facts.set("environment.SLURM_CPUS_PER_TASK", "3");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);
  facts.set("environment.SLURM_CPUS_PER_TASK", "2");
  input.job.dims = ddlrun::topology::parse_dims("4x2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::pass);
  facts.set("environment.SLURM_GPUS_ON_NODE", "2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);
  input.job.dims = ddlrun::topology::parse_dims("2x2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);  // 4 tasks, 2 ranks
  DoctorInput pbs;
  pbs.head.facts.set("environment.PBS_JOBID", "1.pbs");
  CHECK(run_check("CPU-06", pbs)[0].verdict == Verdict::skip);
  pbs.head.facts.set("environment.NCPUS", "68");
  pbs.head.facts.set("environment.OMP_NUM_THREADS", "17");
  pbs.job.ranks_of_host = {{"h1", 4}};
  CHECK(run_check("CPU-06", pbs)[0].verdict == Verdict::pass);
  pbs.job.ranks_of_host = {{"h1", 5}};
  CHECK(run_check("CPU-06", pbs)[0].verdict == Verdict::fail);
}
