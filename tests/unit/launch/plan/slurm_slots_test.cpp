// SPDX-License-Identifier: MIT
// The variables and answers were recorded with Slurm 22.05.8 and mpirun 4.1.4 on 2 hosts of 4 CPUs: salloc
// with the words of each row, then mpirun -n 4 --rankfile.
#include "launch/plan/slurm_slots.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::launch;

namespace {

struct SlurmJob : tests::FakeSystem {
  LaunchSpec spec;
  JobPlan job;

  SlurmJob(const char* nodes, const char* tasks, const std::vector<std::string>& hosts) {
    environment.variables = {
        {"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", nodes}, {"SLURM_TASKS_PER_NODE", tasks}};
    for (const std::string& host : hosts) {
      PlannedRank& rank = job.ranks.emplace_back();
      rank.host = host;
    }
  }
  std::string refusal() {
    try {
      check_slurm_slots(interfaces(), spec, job);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::request);
      return error.message().what;
    }
    return "";
  }
};

const std::vector<std::string> even{"node1", "node2", "node1", "node2"};
const std::vector<std::string> uneven{"node1", "node2", "node2", "node2"};

}  // namespace

TEST_SUITE_BEGIN("launch/plan/slurm_slots");

TEST_CASE("SLURM_TASKS_PER_NODE, as sbatch(1) describes it") {
  using Tasks = std::vector<std::uint32_t>;
  CHECK(parse_tasks_per_node("2(x3),1") == Tasks{2, 2, 2, 1});
  CHECK(parse_tasks_per_node("4") == Tasks{4});
  for (const char* other : {"", "2(x", "2(x3", "a", "2,,3", "2(xa)"})
    CHECK(parse_tasks_per_node(other).empty());
}

TEST_CASE("ranks without a slot are refused, as mpirun refuses them") {
  struct Row {
    const char* tasks;
    std::vector<std::string> hosts;
    std::string refusal;
  };
  for (const Row& row : {
           Row{"4(x2)", even, ""},  // -N2 --exclusive
           Row{"2(x2)", even, ""},  // -N2 --ntasks-per-node=2 -c2: CPUs do not count
           Row{"1(x2)", even, "the Slurm job has 1 task on node1, and 2 ranks are planned there"},
           Row{"2(x2)", uneven, "the Slurm job has 2 tasks on node2, and 3 ranks are planned there"},
           Row{"1,3", uneven, ""},
           Row{"1(x2)", {"node1", "node2"}, ""},
       }) {
    CHECK(SlurmJob("node[1-2]", row.tasks, row.hosts).refusal() == row.refusal);
  }
}

TEST_CASE("with dims the refusal has their words") {
  SlurmJob slurm("node[1-2]", "1(x2)", even);
  slurm.job.plan.emplace().dims = topology::Dims{2, 2, 1, 1};
  CHECK(slurm.refusal() == "the Slurm job has 1 task on each of 2 nodes, 2x2x1 needs 2");
}

TEST_CASE("nothing is refused outside of Slurm, nor where the user changes the slots") {
  SlurmJob outside("node[1-2]", "1(x2)", even);
  outside.environment.variables.erase("SLURM_JOB_ID");
  CHECK(outside.refusal().empty());
  SlurmJob option("node[1-2]", "1(x2)", even);
  option.spec.launcher.words.mpi_arguments = {"--oversubscribe"};
  CHECK(option.refusal().empty());
  SlurmJob parameter("node[1-2]", "1(x2)", even);
  parameter.spec.launcher.words.mca = {{"rmaps_base_oversubscribe", "1"}};
  CHECK(parameter.refusal().empty());
  SlurmJob variable("node[1-2]", "1(x2)", even);
  variable.environment.variables["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  CHECK(variable.refusal().empty());
  SlurmJob shared("node[1-2]", "1(x2)", even);
  shared.spec.placement.plan.oversubscribe = true;
  CHECK(shared.refusal().empty());
}

TEST_SUITE_END();
