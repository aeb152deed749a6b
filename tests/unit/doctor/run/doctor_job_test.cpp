// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_job.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

struct Asked : tests::FakeSystem {
  DoctorJobOptions options;
  doctor::Job job() {
    System system = interfaces();
    return find_job(system, options).job;
  }
  std::vector<std::string> hosts() {
    System system = interfaces();
    return find_job(system, options).hosts;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("doctor/run/doctor_job");

TEST_CASE("where the hosts and the allocation come from") {
  Asked asked;
  CHECK(asked.hosts() == Names{"here"});
  CHECK(asked.job().allocation_source == "");
  asked.files.files["/var/nodes"] = "p1\np1\np2\n";
  asked.environment.variables["PBS_NODEFILE"] = "/var/nodes";
  CHECK(asked.job().allocation_source == "PBS_NODEFILE");
  CHECK(asked.hosts() == Names{"p1", "p2"});
  asked.environment.variables["SLURM_JOB_NODELIST"] = "n[01-02],n1";
  CHECK(asked.job().allocation_source == "SLURM_JOB_NODELIST");
  CHECK(asked.hosts() == Names{"n01", "n02", "n1"});
  asked.options.hosts = "a[1-2],a1";
  CHECK(asked.hosts() == Names{"a1", "a2"});
  CHECK(asked.job().allocation == Names{"n01", "n02", "n1"});  // mpirun takes Slurm's
  asked.environment.variables.clear();
  CHECK(asked.job().allocation_source == "the host list");
  asked.options.hosts = "";
  asked.options.hostfile = "hosts.txt";
  asked.files.files["hosts.txt"] = "h1 slots=4\nh2 slots=4\n";
  CHECK(asked.job().allocation_source == "hostfile hosts.txt");
  CHECK(asked.job().hostfile_path == "hosts.txt");
  CHECK(asked.hosts() == Names{"h1", "h2"});
  asked.options.hosts = "h3";
  CHECK_THROWS_AS(asked.job(), Error);
}

TEST_CASE("TMPDIR is PBS's own if its name contains the job's id") {
  Asked asked;
  auto& variables = asked.environment.variables;
  variables["TMPDIR"] = "/tmp/pbs.1.node1";
  CHECK_FALSE(asked.job().has_tmpdir_of_scheduler);
  variables["PBS_JOBID"] = "1.node1";
  CHECK(asked.job().has_tmpdir_of_scheduler);
  asked.options.exports = {"TMPDIR"};  // the ranks get it on every host
  CHECK_FALSE(asked.job().has_tmpdir_of_scheduler);
  asked.options.exports.clear();
  variables["TMPDIR"] = "/scratch/kim";
  CHECK_FALSE(asked.job().has_tmpdir_of_scheduler);
}

TEST_CASE("ranks and cores of each host") {
  Asked asked;
  asked.options.hosts = "h1,h2";
  asked.options.dims = "4x2x1";
  doctor::Job job = asked.job();
  CHECK(job.ranks == 8);
  CHECK(job.ranks_of_host == std::map<std::string, std::uint32_t>{{"h1", 4}, {"h2", 4}});
  asked.options.dims = "";
  asked.options.ranks = "3";
  CHECK(asked.job().ranks_of_host == std::map<std::string, std::uint32_t>{{"h1", 2}, {"h2", 2}});
  asked.options.ranks = "";
  asked.options.rankfile = "job.rf";
  asked.files.files["job.rf"] = "rank 0=h1 slot=0:0-3\nrank 1=h2.cluster slot=0:0,1\nrank 2=ib1 slot=1:*\n";
  job = asked.job();
  CHECK(job.ranks == 3);
  CHECK(job.cores_per_rank == 4);
  CHECK(job.ranks_of_host == std::map<std::string, std::uint32_t>{{"h1", 1}, {"h2", 1}, {"ib1", 1}});
  asked.options.ranks = "8";
  asked.options.cores_per_rank = "2";
  job = asked.job();
  CHECK(job.ranks == 8);
  CHECK(job.cores_per_rank == 2);
  asked.options.hosts = "";
  CHECK(asked.hosts() == Names{"h1", "h2.cluster", "ib1"});
}

TEST_CASE("a core that a rankfile names twice is one core") {
  Asked asked;
  asked.files.files["twice.rf"] = "rank 0=h1 slot=0:0;0:0;0:1\n";
  asked.options.rankfile = "twice.rf";
  CHECK(asked.job().cores_per_rank == 2);
}

TEST_CASE("the environment of the job by name, without the values of secrets") {
  Asked asked;
  asked.environment.variables = {{"OMP_NUM_THREADS", "4"},
                                 {"NCCL_DEBUG", "INFO"},
                                 {"EDITOR", "vi"},
                                 {"HF_TOKEN", "hf_123"},
                                 {"MASTER_PORT", "29500"}};
  asked.options.exports = {"HF_TOKEN", "MY_FLAG=a,b", "X,Y"};
  const doctor::Job job = asked.job();
  CHECK(job.environment.at("OMP_NUM_THREADS") == "4");
  CHECK(job.environment.at("NCCL_DEBUG") == "INFO");
  CHECK(job.environment.at("HF_TOKEN") == "");
  CHECK(job.environment.at("MY_FLAG") == "a,b");
  CHECK(job.environment.count("EDITOR") == 0);
  CHECK(job.environment.count("X") == 0);  // not set here, so there is nothing to give
  CHECK(job.exports == Names{"HF_TOKEN", "MY_FLAG", "X", "Y"});
  CHECK(job.ports == std::vector<std::uint16_t>{29500});
}

TEST_CASE("typing errors are reported") {
  struct Row {
    const char* name;
    void (*set)(DoctorJobOptions&);
  };
  for (const Row& row : {Row{"-n 0", [](DoctorJobOptions& o) { o.ranks = "0"; }},
                         Row{"-n x", [](DoctorJobOptions& o) { o.ranks = "x"; }},
                         Row{"dims", [](DoctorJobOptions& o) { o.dims = "4x0"; }},
                         Row{"port", [](DoctorJobOptions& o) { o.ports = {"65536"}; }},
                         Row{"-x", [](DoctorJobOptions& o) { o.exports = {"a b"}; }},
                         Row{"rankfile", [](DoctorJobOptions& o) { o.rankfile = "gone.rf"; }},
                         Row{"cores", [](DoctorJobOptions& o) { o.cores_per_rank = "-1"; }}}) {
    CAPTURE(row.name);
    Asked asked;
    row.set(asked.options);
    CHECK_THROWS_AS(asked.job(), Error);
  }
}

TEST_SUITE_END();
