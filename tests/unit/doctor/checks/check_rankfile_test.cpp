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

TEST_SUITE_BEGIN("doctor/checks/check_rankfile");

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
  input.job.rankfile_text =
      "rank 0=h1 slot=0:0\nrank 1=h1 slot=0:1\nrank 2=h2 slot=0:0\nrank 4=h2 slot=0:1\n";
  input.job.ranks_of_host = {{"h1", 2}, {"h2", 2}};
  CHECK(run_check("MPI-08", input)[0].remedy.commands ==
        std::vector<std::string>{
            "ddlrun gen-rankfile 2x2 h1,h2 --order packed > job.rf.new && mv job.rf.new job.rf"});
}

TEST_CASE("MPI-08: a file is written anew for the shape of its header") {
  auto input = with_rankfile("#dims = 1x2x3\nrank 0=h1 slot=0:0\nrank 2=h2 slot=0:0\n");
  std::string hosts;
  for (int i = 1; i <= 6; ++i) {
    const std::string host = "h" + std::to_string(i);
    input.add(host);
    input.job.ranks_of_host[host] = 1;
    hosts += (hosts.empty() ? "" : ",") + host;
  }
  const auto command = [&] { return run_check("MPI-08", input)[0].remedy.commands.at(0); };
  CHECK(command().starts_with("ddlrun gen-rankfile 1x2x3 " + hosts + " "));
  input.job.dims = ddlrun::topology::parse_dims("1x3x2");
  CHECK(command().starts_with("ddlrun gen-rankfile 1x3x2 "));
  input.job.dims.reset();
  input.add("h7");  // the header is for 6 hosts: gen-rankfile refuses 1x2x3 for 7
  CHECK(command().starts_with("ddlrun gen-rankfile 1x7 "));
}

TEST_CASE("MPI-08: -n against --dims") {
  DoctorInput input;
  input.job.dims = ddlrun::topology::parse_dims("1x2x1");
  input.job.ranks = 2;
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::skip);
  input.job.ranks = 3;
  CHECK(run_check("MPI-08", input)[0].verdict == Verdict::fail);
}

TEST_CASE("MPI-08: no one who gave no -n is reported what it asks for") {
  // Without -n the job has as many ranks as the file has lines.
  const auto findings = run_check("MPI-08", with_rankfile("rank 0=h1 slot=0:0\nrank 2=h2 slot=0:0\n", 2));
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].observed.find("-n asks") == std::string::npos);
}

TEST_CASE("MPI-08: the shape that the program is reported, as in the run of January 2018") {
  std::string text = "#dims = 4x2x1\n";
  for (int rank = 0; rank < 8; ++rank)
    text += "rank " + std::to_string(rank) + "=h" + std::to_string(rank % 2 + 1) +
            " slot=" + std::to_string(rank / 4) + ":" + std::to_string(rank / 2 % 2) + "\n";
  auto input = with_rankfile(text, 8);
  input.job.program = {"python", "mnist.py", "-mode", "b:4x1x1"};
  const auto findings = run_check("MPI-08", input);
  CHECK(findings[0].verdict == Verdict::fail);
  CHECK(findings[0].observed == "the program has -mode 4x1x1 (4 ranks), the job is 4x2x1 (8 ranks)");
  CHECK(findings[0].remedy.commands ==
        std::vector<std::string>{"mpirun -n 8 --rankfile job.rf python mnist.py -mode b:4x2x1"});
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
  input.driver_host.facts.set_list("name.table", {"ib1 10.9.1.1"});
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
  // The same core by its number in the package and in the machine: only the machine reports.
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
  Facts& facts = input.driver_host.facts;
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
  facts.set("environment.SLURM_GPUS_ON_NODE", "2");  // of an exclusive node: not requested
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::warn);
  facts.set("environment.SLURM_GPUS_PER_NODE", "2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);
  input.job.dims = ddlrun::topology::parse_dims("2x2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);  // 4 tasks, 2 ranks
}

TEST_CASE("CPU-01, CPU-06: ranks that share cores") {
  DoctorInput input;
  Facts& facts = input.driver_host.facts;
  for (const char* host : {"h1", "h2"}) input.add(host).facts.set("cores.map", two_by_two);
  input.add("h3").facts.set("cores.map", "0: 0;1");
  input.job.ranks_of_host = {{"h1", 3}, {"h2", 3}, {"h3", 3}};
  facts.set("environment.PBS_JOBID", "1.pbs");
  facts.set("environment.OMP_NUM_THREADS", "1");
  for (const char* host : {"h1", "h2", "h3"})
    facts.set(std::string("scheduler.pbs.cores.") + host, host[1] == '3' ? "2" : "4");
  CHECK(find_one(run_check("CPU-01", input), Verdict::fail).hosts == std::vector<std::string>{"h3"});
  CHECK(run_check("CPU-06", input)[0].remedy.note ==
        "request more: #PBS -l select=3:ncpus=3:mpiprocs=3:ompthreads=1; or --oversubscribe, to try it on "
        "shared "
        "cores");
  input.job.shares_cores = true;
  CHECK(find_one(run_check("CPU-01", input), Verdict::warn).hosts == std::vector<std::string>{"h3"});
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::pass);
  facts.set("environment.OMP_NUM_THREADS", "2");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);
  DoctorInput slurm;
  for (const auto& [name, value] :
       {std::pair("JOB_ID", "7"), {"CPUS_ON_NODE", "2"}, {"NTASKS_PER_NODE", "4"}, {"CPUS_PER_TASK", "1"}})
    slurm.driver_host.facts.set(std::string("environment.SLURM_") + name, value);
  CHECK(run_check("CPU-06", slurm)[0].verdict == Verdict::fail);
  slurm.job.shares_cores = true;
  CHECK(run_check("CPU-06", slurm)[0].verdict == Verdict::pass);
  // As submit requests it: one task with all CPUs of a node, for all of its ranks.
  slurm.job.dims = ddlrun::topology::parse_dims("4x1");
  slurm.job.ranks_of_host = {{"h1", 4}};
  slurm.driver_host.facts.set("environment.SLURM_NTASKS_PER_NODE", "1");
  slurm.driver_host.facts.set("environment.SLURM_CPUS_PER_TASK", "2");
  CHECK(run_check("CPU-06", slurm)[0].verdict == Verdict::pass);
  slurm.job.shares_cores = false;
  CHECK(run_check("CPU-06", slurm)[0].verdict == Verdict::fail);
}

// OpenPBS 23.06 sets NCPUS and OMP_NUM_THREADS to the chunk's ompthreads; its cores are those of exec_host.
TEST_CASE("CPU-06: NCPUS of a PBS job is not the number of cores") {
  struct Row {
    const char *request, *threads, *cores;
    std::uint32_t ranks;
    Verdict verdict;
    const char* observed;
  };
  for (const Row& row : {Row{"2:ncpus=2:mpiprocs=2:ompthreads=1", "1", "2", 2, Verdict::pass,
                             "2 ranks x 1 thread in 2 cores of h1.site"},
                         Row{"2:ncpus=68:mpiprocs=4:ompthreads=17", "17", "68", 4, Verdict::pass,
                             "4 ranks x 17 threads in 68 cores of h1.site"},
                         Row{"2:ncpus=2:mpiprocs=4:ompthreads=1", "1", "2", 4, Verdict::fail,
                             "4 ranks x 1 thread on h1.site, where the job has 2 cores"},
                         Row{"2:ncpus=40:mpiprocs=4", "40", "40", 4, Verdict::fail,
                             "4 ranks x 40 threads on h1.site, where the job has 40 cores"}}) {
    CAPTURE(row.request);
    DoctorInput input;
    input.driver_host.facts.set("environment.PBS_JOBID", "1.pbs");
    input.driver_host.facts.set("environment.NCPUS", row.threads);
    input.driver_host.facts.set("environment.OMP_NUM_THREADS", row.threads);
    input.driver_host.facts.set("scheduler.pbs.answer", "ok");
    input.driver_host.facts.set("scheduler.pbs.cores.h1", row.cores);
    input.driver_host.facts.set("scheduler.pbs.cores.h2", "68");
    input.job.ranks_of_host = {{"h1.site", row.ranks}, {"h2", row.ranks}};
    if (row.verdict == Verdict::fail) input.job.ranks_of_host["h2"] = 1;
    const auto findings = run_check("CPU-06", input);
    CHECK(only(findings).verdict == row.verdict);
    CHECK(only(findings).observed == row.observed);
  }
}

TEST_CASE("CPU-06: what mends a chunk of too few cores, and where the cores are not known") {
  DoctorInput input;
  Facts& facts = input.driver_host.facts;
  facts.set("environment.PBS_JOBID", "1.pbs");
  facts.set("environment.OMP_NUM_THREADS", "40");
  facts.set("scheduler.pbs.cores.h1", "40");
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::skip);
  input.job.ranks_of_host = {{"h1", 4}};
  CHECK(run_check("CPU-06", input)[0].remedy.commands ==
        std::vector<std::string>{"export OMP_NUM_THREADS=10"});
  input.job.environment["OMP_NUM_THREADS"] = "10";  // -x OMP_NUM_THREADS=10
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::pass);
  input.job.ranks_of_host = {{"h1", 50}};
  CHECK(run_check("CPU-06", input)[0].remedy.commands.empty());
  CHECK(run_check("CPU-06", input)[0].remedy.note ==
        "request more: #PBS -l select=1:ncpus=500:mpiprocs=50:ompthreads=10");
  input.job.ranks_of_host = {{"h1", 4}, {"h3", 4}};
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::skip);
  CHECK(run_check("CPU-06", input)[0].observed ==
        "the job's cores on h3 are not known: exec_host of the job does not list it");
  input.job.ranks_of_host = {{"h1", 5}, {"h3", 4}};
  CHECK(run_check("CPU-06", input)[0].verdict == Verdict::fail);
  DoctorInput blind;
  blind.driver_host.facts.set("environment.PBS_JOBID", "1.pbs");
  blind.driver_host.facts.set("environment.NCPUS", "1");
  blind.driver_host.facts.set("environment.OMP_NUM_THREADS", "1");
  blind.driver_host.facts.set_unknown("scheduler.pbs.cores", "no qstat in PATH");
  blind.job.ranks_of_host = {{"h1", 2}};
  CHECK(run_check("CPU-06", blind)[0].verdict == Verdict::skip);
  CHECK(run_check("CPU-06", blind)[0].observed == "the job's cores on h1 are not known: no qstat in PATH");
}

TEST_SUITE_END();
