// SPDX-License-Identifier: MIT
#include "launch/plan/plan_job_ranks.hpp"

#include "base/text/error.hpp"
#include "launch/plan/job_threads.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace ddlrun;
using launch::JobPlan;
using launch::LaunchSpec;

namespace {

struct Planned : tests::FakeSystem {
  LaunchSpec spec;
  Planned() {  // a Minsky without threads: 2 packages of 8 cores
    spec.placement.machine.sockets = 2;
    spec.placement.machine.cores = 8;
  }
  JobPlan plan() {
    System system = interfaces();
    return launch::plan_job_ranks(system, spec, 4);
  }
  // "WHAT | HINT" of the error.
  std::string refusal() {
    try {
      plan();
    } catch (const Error& error) {
      return error.message().what + " | " + error.message().hint;
    }
    return "";
  }
};

}  // namespace

TEST_SUITE_BEGIN("launch/plan/plan_job_ranks");

TEST_CASE("DIMS: ranks by host, equal shares of the cores, as rank_gen.py places them") {
  Planned planned;
  planned.spec.shape.hosts = {"h1", "h2"};
  planned.spec.shape.dims = topology::Dims{4, 2, 1, 1};
  const JobPlan job = planned.plan();
  REQUIRE(job.ranks.size() == 8);
  // As in rank_gen.py's own file for 4x2x1, tests/golden/rankfiles/4x2x1_2x10.rf: hosts take turns.
  CHECK(job.ranks[0].host == "h1");
  CHECK(job.ranks[1].host == "h2");
  CHECK(job.ranks[1].local_rank == 0);
  CHECK(job.ranks[2].slot == "0:4-7");
  CHECK(job.ranks[6].slot == "1:4-7");
  CHECK(job.ranks[7].local_rank == 3);
  CHECK(job.rankfile_text.find("rank 7=h2           slot=1:4-7\n") != std::string::npos);
  CHECK(job.findings.empty());
  CHECK(planned.processes.ran.empty());  // a described machine: no host is asked
}

TEST_CASE("hosts where none is named: the allocation, else this host by a name that Open MPI takes") {
  Planned planned;
  planned.spec.shape.ranks_per_host = 2;
  CHECK(planned.plan().hosts == std::vector<std::string>{"here"});
  planned.environment.host_name = "7up";
  CHECK(planned.plan().hosts == std::vector<std::string>{"localhost"});
  planned.environment.variables["SLURM_JOB_NODELIST"] = "n[1-2]";
  const JobPlan job = planned.plan();
  CHECK(job.hosts == std::vector<std::string>{"n1", "n2"});
  CHECK(job.ranks.size() == 4);
  REQUIRE(!job.remarks.empty());
  CHECK(job.remarks.front() == "hosts: n[1-2] (SLURM_JOB_NODELIST)");
}

TEST_CASE("localhost beside another host is this host by its name") {
  for (const char* name : {"localhost", "127.0.0.1"}) {
    Planned planned;
    planned.spec.shape.hosts = {name, "h2"};
    planned.spec.shape.ranks_per_host = 1;
    const JobPlan job = planned.plan();
    CHECK(job.hosts == std::vector<std::string>{"here", "h2"});
    CHECK(job.ranks.front().host == "here");
    REQUIRE(!job.remarks.empty());
    CHECK(job.remarks.front() == "hosts: " + std::string(name) + " is this host, here");
    planned.spec.shape.hosts = {name};
    CHECK(planned.plan().hosts == std::vector<std::string>{name});
  }
}

TEST_CASE("one host in an allocation: an allocated one, whether this host is one of them or not") {
  struct Row {
    const char *here, *nodes, *host, *remark;
  };
  for (const Row& row : {
           Row{"login", "n3", "n3", "hosts: n3 (SLURM_JOB_NODELIST)"},
           Row{"n3", "n3", "n3", "hosts: n3 (SLURM_JOB_NODELIST)"},
           Row{"7up", "7up", "localhost", "hosts: 7up (SLURM_JOB_NODELIST)"},  // a name that Open MPI refuses
           Row{"login", "n[1-2]", "n1", "hosts: n1, as DIMS are for one host; n[1-2] (SLURM_JOB_NODELIST)"},
           Row{"n2", "n[1-2]", "n2", "hosts: n2, as DIMS are for one host; n[1-2] (SLURM_JOB_NODELIST)"},
       }) {
    Planned planned;
    planned.environment.host_name = row.here;
    planned.environment.variables["SLURM_JOB_NODELIST"] = row.nodes;
    planned.spec.shape.dims = topology::Dims{2, 1, 1, 1};
    const JobPlan job = planned.plan();
    CHECK(job.hosts == std::vector<std::string>{row.host});
    REQUIRE(!job.remarks.empty());
    CHECK(job.remarks.front() == row.remark);
  }
}

TEST_CASE("one host in a PBS job; --np -2 is this host in any job") {
  Planned planned;
  planned.files.files["/nodes"] = "n3\nn3\n";
  planned.environment.variables["PBS_NODEFILE"] = "/nodes";
  planned.spec.shape.dims = topology::Dims{2, 1, 1, 1};
  CHECK(planned.plan().hosts == std::vector<std::string>{"n3"});
  planned.spec.shape.local_ranks = 2;
  CHECK(planned.plan().hosts == std::vector<std::string>{"here"});
}

TEST_CASE("ranks that outnumber the cores share all of them, one thread each, bound to none") {
  Planned planned;
  planned.spec.placement.plan.oversubscribe = true;
  planned.spec.shape.hosts = {"h1", "h2"};
  const auto plan_threads = [&](const JobPlan& job) {
    std::vector<std::string> remarks;
    return launch::plan_rank_threads(planned.spec, launch::LauncherKind::open_mpi, job, {"./p"}, {}, remarks);
  };
  planned.spec.shape.dims = topology::Dims{17, 2, 1, 1};
  const JobPlan job = planned.plan();
  for (const launch::PlannedRank& rank : job.ranks) CHECK(rank.slot == "0:0-7;1:0-7");
  CHECK(job.findings.empty());
  CHECK(job.fewest_cores() == 1);
  CHECK(job.most_cores() == 1);
  CHECK_FALSE(plan_threads(job).bound);
  // One host of two: the ranks of the other have cores of their own.
  planned.spec.shape.dims.reset();
  planned.spec.shape.host_ranks = {17, 2};
  const JobPlan uneven = planned.plan();
  CHECK(uneven.ranks.back().slot == "1:0-7");
  CHECK(uneven.fewest_cores() == 1);
  CHECK(uneven.most_cores() == 8);
  CHECK(uneven.is_crowded());
  planned.spec.shape.host_ranks = {16, 2};
  CHECK(plan_threads(planned.plan()).bound);
}

TEST_CASE("one core each as typed: ranks that outnumber the cores stay bound, in turn") {
  Planned planned;
  planned.spec.placement.plan.oversubscribe = true;
  planned.spec.placement.plan.cores_per_rank = 1;  // --bind-to core
  planned.spec.shape.local_ranks = 17;  // --np -17
  planned.spec.shape.dims = topology::Dims{17, 1, 1, 1};
  const JobPlan job = planned.plan();
  REQUIRE(job.ranks.size() == 17);
  CHECK(job.ranks[0].slot == "0:0");
  CHECK(job.ranks[16].slot == "0:0");
  CHECK_FALSE(job.is_crowded());
}

TEST_CASE("numbers that do not fit are errors with numbers that do") {
  struct Row {
    std::function<void(LaunchSpec&)> change;
    std::string refusal;
  };
  for (const Row& row :
       {Row{[](LaunchSpec& spec) { spec.shape.total_ranks = 7; },
            "7 ranks cannot be dealt evenly to 2 hosts: nothing was started | --np 6 or --np 8"},
        Row{[](LaunchSpec& spec) { spec.shape.total_ranks = 1; },
            "1 ranks cannot be dealt evenly to 2 hosts: nothing was started | --np 2"},
        Row{[](LaunchSpec& spec) { spec.shape.local_ranks = 17; },
            "17 ranks need 17 cores, this host has 16 | --np -16"},
        Row{[](LaunchSpec& spec) {
              spec.shape.dims = topology::Dims{4, 3, 1, 1};
            },
            "4x3x1 needs 3 hosts, 2 given | dims 4x2x1"},
        Row{[](LaunchSpec& spec) {
              spec.shape.dims = topology::Dims{4, 1, 1, 1};
            },
            "4 as DIMS is 4 ranks on one host, 2 hosts given | 4x2 h[1-2] (4 on each host), or -n 4 -H "
            "h[1-2] "
            "(4 in all)"},
        Row{[](LaunchSpec& spec) {
              spec.shape.dims = topology::Dims{1, 1, 1, 1};
            },
            "1 as DIMS is 1 rank on one host, 2 hosts given | 1x2 h[1-2] (1 on each host)"}}) {
    Planned planned;
    planned.spec.shape.hosts = {"h1", "h2"};
    row.change(planned.spec);
    CHECK(planned.refusal() == row.refusal);
  }
}

TEST_CASE("a rankfile of the user's is taken as it is, or refused with its findings") {
  Planned planned;
  planned.spec.shape.rankfile = "/rf";
  planned.files.files["/rf"] = "rank 0=h1 slot=0:0-3\nrank 1=h1 slot=1:0-3\n";
  const JobPlan job = planned.plan();
  CHECK(job.rankfile_text == planned.files.files["/rf"]);
  CHECK_FALSE(job.plan.has_value());
  REQUIRE(job.ranks.size() == 2);
  CHECK(job.ranks[1].pus == std::vector<int>{8, 9, 10, 11});
  // mpirun 4.1.4 refuses -n 4 with these lines, and leaves out the second one with -n 1.
  planned.spec.shape.total_ranks = 4;
  CHECK(planned.refusal().starts_with("the rankfile has 1 error"));
  CHECK(planned.err.find("ranks 2 to 3 have no line; 4 ranks are requested") != std::string::npos);
  planned.spec.shape.total_ranks = 1;
  CHECK(planned.refusal().starts_with("the rankfile has 1 error"));
  planned.spec.shape.total_ranks = 2;
  CHECK(planned.plan().ranks.size() == 2);
  planned.spec.shape.total_ranks = 0;
  planned.spec.shape.hosts = {"h1", "h2"};  // -H h1:2,h2:2, then -H h1:2,h2:1
  planned.spec.shape.ranks_per_host = 2;
  CHECK(planned.refusal().starts_with("the rankfile has "));
  CHECK(planned.err.find("4 ranks are requested") != std::string::npos);
  planned.spec.shape.ranks_per_host.reset();
  planned.spec.shape.host_ranks = {2, 1};
  CHECK(planned.refusal().starts_with("the rankfile has 1 error"));
  planned.spec.shape = {};
  planned.spec.shape.rankfile = "/rf";
  planned.files.files["/rf"] = "rank 0=h1 slot=0:0-3\nrank 0=h1 slot=1:0-3\n";
  CHECK(planned.refusal().starts_with("the rankfile has "));
  CHECK(planned.err.find("/rf:2: error: ") != std::string::npos);
}

TEST_SUITE_END();
