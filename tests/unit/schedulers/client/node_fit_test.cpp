// SPDX-License-Identifier: MIT
#include "schedulers/client/node_fit.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

JobSpec job_of(std::uint32_t ranks, std::uint32_t nodes) {
  JobSpec job;
  job.scheduler = SchedulerKind::slurm;
  job.dims = {ranks, nodes, 1, 1};
  return job;
}

// "WHAT | HINT", or "".
std::string fault_of(const JobSpec& job, const std::vector<ListedNode>& nodes) {
  const auto fault = find_node_fault(job, nodes, "sinfo");
  return fault ? fault->what + " | " + fault->hint : "";
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/node_fit");

TEST_CASE("a job that too few nodes can run is found before it is submitted") {
  const std::vector<ListedNode> small(4, {"n", 2, "", 2, 0});
  CHECK(fault_of(job_of(2, 4), small) == "");
  CHECK(fault_of(job_of(4, 2), small) ==
        "4 ranks a node need 4 CPUs, and no node has more than 2: it would wait forever | 2x4   # the same 8 "
        "ranks on 4 nodes; or --oversubscribe, to try it on shared cores; or another --queue");
  CHECK(fault_of(job_of(4, 4), small)
            .ends_with(" | 2x4; or --oversubscribe, to try it on shared cores; or another --queue"));
  CHECK(fault_of(job_of(1, 5), small) ==
        "5 nodes are requested, and there are 4 nodes: it would wait forever | at most 4 nodes; or another "
        "--queue");
  JobSpec threads = job_of(2, 2);
  threads.threads = 2;
  CHECK(fault_of(threads, small) ==
        "2 ranks x 2 threads a node need 4 CPUs, and no node has more than 2: it would wait forever | "
        "--threads 1; or another --queue");
  // Slurm starts a rank on each hardware thread, launch does not.
  const std::vector<ListedNode> smt(2, {"n", 2, "", 4, 0});
  CHECK(fault_of(job_of(4, 2), smt)
            .starts_with(
                "4 ranks a node need 4 cores, and no node has more than 2: launch would refuse it there | "));
  JobSpec other = job_of(4, 2);
  other.runner = Runner::none;
  CHECK(fault_of(other, smt) == "");
  JobSpec shared = job_of(4, 2);
  shared.launch_options = {{"oversubscribe", {"--oversubscribe"}}};
  CHECK(fault_of(shared, small) == "");
}

TEST_CASE("nodes that differ: so many as the job needs must be large enough; what is not listed is enough") {
  std::vector<ListedNode> nodes{{"n1", 8, "", 8, 0}, {"n2", 2, "", 2, 0}, {"n3", 2, "", 2, 0}};
  CHECK(fault_of(job_of(4, 1), nodes) == "");
  CHECK(
      fault_of(job_of(4, 2), nodes) ==
      "4 ranks a node need 4 CPUs, and 1 of the 3 nodes has so many, the job needs 2: it would wait forever "
      "| 4x1; or another --queue");
  nodes[1].cores = nodes[1].cpus = 0;
  CHECK(fault_of(job_of(4, 2), nodes) == "");
  CHECK(fault_of(job_of(4, 2), {}) == "");
}

TEST_CASE("GPUs, where the scheduler lists them; the CPUs that PBS is asked for") {
  JobSpec job = job_of(2, 2);
  job.gpus_per_node = 2;
  job.queue = "gpu";
  CHECK(fault_of(job, std::vector<ListedNode>(2, {"n", 8, "", 8, 2})) == "");
  CHECK(fault_of(job, std::vector<ListedNode>(2, {"n", 8, "", 8, std::nullopt})) == "");
  CHECK(
      fault_of(job, std::vector<ListedNode>(2, {"n", 8, "", 8, 1})) ==
      "2 GPUs a node are requested, and no node of queue gpu has more than 1: it would wait forever | --gpus "
      "1, and as many ranks a node; or another --queue");
  job.gpus_per_node = 0;
  job.scheduler = SchedulerKind::pbs;
  job.cores_per_node = 68;
  CHECK(fault_of(job, std::vector<ListedNode>(2, {"n", 40, "", 40, 0})) ==
        "cores_per_node requests 68 CPUs, and no node of queue gpu has more than 40: it would wait forever | "
        "--cores-per-node 40; or another --queue");
}

TEST_CASE("the scheduler is asked; one that does not answer is no fault") {
  tests::FakeSystem fake;
  bool answers = true;
  fake.processes.answer = [&](const Command& command) {
    if (!answers) return tests::answered("", 1, "sinfo: error: no controller");
    return tests::answered(command.back() == "%P %l %s %D" ? "normal* 30:00 1-infinite 4\n"
                                                           : "n1 1 2 2 (null)\n");
  };
  System system = fake.interfaces();
  JobSpec job = job_of(1, 1);
  job.walltime_seconds = 3600;
  REQUIRE(find_request_fault(system, job));
  CHECK(find_request_fault(system, job)->message.hint.ends_with("; or --qos NAME, one that permits more"));
  job.qos = "big";
  CHECK(find_request_fault(system, job)->may_be_permitted);
  job.walltime_seconds = 60;
  CHECK_FALSE(find_request_fault(system, job));
  job.dims = {4, 1, 1, 1};
  REQUIRE(find_request_fault(system, job));
  CHECK_FALSE(find_request_fault(system, job)->may_be_permitted);
  job.directives = {"--overcommit"};
  CHECK_FALSE(find_request_fault(system, job));
  job.directives.clear();
  answers = false;
  CHECK_FALSE(find_request_fault(system, job));
  answers = true;
  job.scheduler = SchedulerKind::local;
  CHECK_FALSE(find_request_fault(system, job));
}

TEST_SUITE_END();
