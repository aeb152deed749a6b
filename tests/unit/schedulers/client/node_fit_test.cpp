// SPDX-License-Identifier: MIT
#include "schedulers/client/node_fit.hpp"

#include "schedulers/client/scheduler_access.hpp"
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

// "WHAT | HINT", with "unless ..." where it is a warning only; or "".
std::string fault_of(const JobSpec& job, const std::vector<ListedNode>& nodes) {
  const auto fault = find_node_fault(job, nodes, "sinfo");
  if (!fault) return "";
  return fault->message.what + (fault->unless.empty() ? "" : ", unless " + fault->unless) + " | " +
         fault->message.hint;
}

JobRequest request_of(const JobSpec& job) {
  JobRequest wanted;
  wanted.parsed.job = job;
  return wanted;
}

// A Slurm whose default partition has nodes of 2 CPUs, and whose partition "big" has nodes of 16.
ProcessResult answer_of_slurm(const Command& command) {
  if (command.back() == "%P %l %s") return tests::answered("normal* 30:00 1-infinite\nbig 1:00 1-infinite\n");
  const std::string small = "n1 1 2 2 (null)\nn2 1 2 2 (null)\n", big = "b1 1 16 16 (null)\n";
  return tests::answered(command.back() == "normal" ? small : command.back() == "big" ? big : small + big);
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/node_fit");

TEST_CASE("a job that too few nodes can run is found before it is submitted") {
  const std::vector<ListedNode> small(4, {"n", 2, "", 2, 0});
  CHECK(fault_of(job_of(2, 4), small) == "");
  CHECK(fault_of(job_of(4, 2), small) ==
        "4 ranks a node need 4 CPUs, and no node has more than 2: the job would wait forever | 2x4   # the "
        "same "
        "8 ranks on 4 nodes; or --oversubscribe, to try it on shared cores; or another --queue");
  CHECK(fault_of(job_of(4, 4), small)
            .ends_with(" | 2x4; or --oversubscribe, to try it on shared cores; or another --queue"));
  CHECK(
      fault_of(job_of(1, 5), small) ==
      "5 nodes are requested, and there are 4 nodes: the job would wait forever, unless there are more nodes "
      "than sinfo lists | at most 4 nodes; or another --queue");
  // The size of the nodes is a certain fault, their number is not.
  CHECK(
      fault_of(job_of(4, 5), small).starts_with("4 ranks a node need 4 CPUs, and no node has more than 2: "));
  CHECK(fault_of(job_of(4, 5), small).find("unless") == std::string::npos);
  JobSpec pbs = job_of(1, 5);  // pbsnodes lists all nodes
  pbs.scheduler = SchedulerKind::pbs;
  CHECK(fault_of(pbs, small) ==
        "5 nodes are requested, and there are 4 nodes: the job would wait forever | at most 4 nodes; or "
        "another "
        "--queue");
  JobSpec threads = job_of(2, 2);
  threads.threads = 2;
  CHECK(fault_of(threads, small) ==
        "2 ranks x 2 threads a node need 4 CPUs, and no node has more than 2: the job would wait forever | "
        "--threads 1; or another --queue");
  // Slurm starts a rank on each hardware thread, launch does not.
  const std::vector<ListedNode> smt(2, {"n", 2, "", 4, 0});
  CHECK(fault_of(job_of(4, 2), smt)
            .starts_with(
                "4 ranks a node need 4 cores, and no node has more than 2: launch would refuse the job | "));
  JobSpec other = job_of(4, 2);
  other.runner = Runner::none;
  CHECK(fault_of(other, smt) == "");
  JobSpec shared = job_of(4, 2);
  shared.launch_options = {{"oversubscribe", {"--oversubscribe"}}};
  shared.shared_cpus = 2;
  CHECK(fault_of(shared, small) == "");
  CHECK(fault_of(shared, smt) == "");
  // Ranks that share cores get no more CPUs than a node has either.
  shared.cores_per_node = shared.shared_cpus = 8;
  CHECK(fault_of(shared, small) ==
        "cores_per_node requests 8 CPUs, and no node has more than 2: the job would wait forever | "
        "--cores-per-node 2; or another --queue");
}

TEST_CASE("nodes that differ: so many as the job needs must be large enough; what is not listed is enough") {
  std::vector<ListedNode> nodes{{"n1", 8, "", 8, 0}, {"n2", 2, "", 2, 0}, {"n3", 2, "", 2, 0}};
  CHECK(fault_of(job_of(4, 1), nodes) == "");
  CHECK(fault_of(job_of(4, 2), nodes) ==
        "4 ranks a node need 4 CPUs on 2 nodes, and 1 of 3 nodes has so many: the job would wait forever, "
        "unless there are more nodes than sinfo lists | 4x1; or another --queue");
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
  CHECK(fault_of(job, std::vector<ListedNode>(2, {"n", 8, "", 8, 1})) ==
        "2 GPUs a node are requested, and no node of queue gpu has more than 1: the job would wait forever | "
        "--gpus 1, and as many ranks a node; or another --queue");
  job.gpus_per_node = 0;
  job.scheduler = SchedulerKind::pbs;
  job.cores_per_node = 68;
  CHECK(fault_of(job, std::vector<ListedNode>(2, {"n", 40, "", 40, 0})) ==
        "cores_per_node requests 68 CPUs, and no node of queue gpu has more than 40: the job would wait "
        "forever | "
        "--cores-per-node 40; or another --queue");
}

TEST_CASE("the scheduler is asked; one that does not answer is no fault") {
  tests::FakeSystem fake;
  bool answers = true;
  fake.processes.answer = [&](const Command& command) {
    if (!answers) return tests::answered("", 1, "sinfo: error: no controller");
    return answer_of_slurm(command);
  };
  System system = fake.interfaces();
  const CommandRunner ask = scheduler_runner(system);
  JobRequest wanted = request_of(job_of(1, 1));
  JobSpec& job = wanted.parsed.job;
  job.walltime_seconds = 3600;
  REQUIRE(find_request_fault(ask, wanted));
  CHECK(find_request_fault(ask, wanted)->message.hint.ends_with("; or --qos NAME, one that permits more"));
  CHECK(find_request_fault(ask, wanted)->unless == "");
  job.qos = "big";
  CHECK(find_request_fault(ask, wanted)->unless == "QOS big permits it");
  job.walltime_seconds = 60;
  CHECK_FALSE(find_request_fault(ask, wanted));
  job.dims = {4, 1, 1, 1};
  REQUIRE(find_request_fault(ask, wanted));  // by the nodes of the default partition
  CHECK(find_request_fault(ask, wanted)->unless == "");
  CHECK(fake.processes.ran.back() == Command{"sinfo", "-h", "-N", "-o", "%N %X %Y %c %G", "-p", "normal"});
  job.queue = "big";
  CHECK_FALSE(find_request_fault(ask, wanted));
  job.queue.clear();
  answers = false;
  CHECK_FALSE(find_request_fault(ask, wanted));
  answers = true;
  job.scheduler = SchedulerKind::local;
  CHECK_FALSE(find_request_fault(ask, wanted));
}

TEST_CASE("lines for the scheduler, the job's or the site's, may change what is requested") {
  tests::FakeSystem fake;
  fake.processes.answer = answer_of_slurm;
  System system = fake.interfaces();
  const CommandRunner ask = scheduler_runner(system);
  JobSpec large = job_of(4, 1), slow = job_of(1, 1);
  slow.walltime_seconds = 3600;
  struct Row {
    const char* directive;
    bool large, slow;  // whether there is a fault
  };
  for (const Row& row : {Row{"--comment=x", true, true}, Row{"--overcommit", false, true},
                         Row{"-O", false, true}, Row{"-M other", false, false},
                         Row{"--clusters=other", false, false}, Row{"--partition=big", false, false},
                         Row{"--reservation=r", false, false}, Row{"--mail-type=END", true, true}}) {
    CAPTURE(row.directive);
    JobRequest wanted = request_of(large);
    wanted.parsed.job.directives = {row.directive};
    CHECK(find_request_fault(ask, wanted).has_value() == row.large);
    wanted = request_of(large);
    wanted.site.directives = {row.directive};
    CHECK(find_request_fault(ask, wanted).has_value() == row.large);
    wanted.parsed.job = slow;
    CHECK(find_request_fault(ask, wanted).has_value() == row.slow);
  }
  JobRequest wanted = request_of(slow);
  wanted.site.directives = {"--qos=long"};
  CHECK(find_request_fault(ask, wanted)->unless == "the QOS of its directives permits it");
  slow.reservation = "r";  // it has a partition of its own
  CHECK_FALSE(find_request_fault(ask, request_of(slow)));
}

TEST_CASE("PBS: a queue without nodes of its own may pass a job on to one that has some") {
  tests::FakeSystem fake;
  fake.processes.answer = [](const Command&) {
    return tests::answered(R"({"nodes":{"n1":{"resources_available":{"host":"n1","ncpus":4}},
      "l1":{"queue":"large","resources_available":{"host":"l1","ncpus":64}}}})");
  };
  System system = fake.interfaces();
  const CommandRunner ask = scheduler_runner(system);
  JobSpec job = job_of(32, 1);
  job.scheduler = SchedulerKind::pbs;
  job.cores_per_node = 64;
  for (const char* queue : {"", "route", "large", "small@other"}) {
    CAPTURE(queue);
    job.queue = queue;
    CHECK_FALSE(find_request_fault(ask, request_of(job)));
  }
  job.cores_per_node = 65;
  CHECK_FALSE(find_request_fault(ask, request_of(job)));  // of another server
  job.queue = "route";
  CHECK(find_request_fault(ask, request_of(job)));
  job.queue = "large";
  CHECK(find_request_fault(ask, request_of(job)));
  JobRequest wanted = request_of(job);
  wanted.site.directives = {"-l place=pack"};
  CHECK_FALSE(find_request_fault(ask, wanted));
}

TEST_CASE("ranks that share cores on Slurm: the CPUs that enough nodes have") {
  tests::FakeSystem fake;
  fake.processes.answer = answer_of_slurm;
  System system = fake.interfaces();
  const CommandRunner ask = scheduler_runner(system);
  const auto shared = [&](JobSpec job) {
    job.launch_options = {{"oversubscribe", {"--oversubscribe"}}};
    JobRequest wanted = request_of(job);
    complete_shared_cpus(ask, wanted);
    CHECK(wanted.parsed.remarks.size() == (wanted.parsed.job.shared_cpus > 0 ? 1 : 0));
    return wanted.parsed.job.shared_cpus;
  };
  CHECK(shared(job_of(4, 2)) == 2);
  CHECK(shared(job_of(2, 2)) == 0);  // each has a CPU
  JobSpec job = job_of(4, 1);
  job.queue = "big";
  CHECK(shared(job) == 0);
  job.dims = {32, 1, 1, 1};
  CHECK(shared(job) == 16);
  job.queue = "normal,big";  // of all three
  job.dims = {4, 1, 1, 1};
  CHECK(shared(job) == 0);
  job.dims = {4, 2, 1, 1};
  CHECK(shared(job) == 2);
  job.dims = {4, 1, 1, 1};
  job.hosts = {"n2"};
  CHECK(shared(job) == 2);
  job.cores_per_node = 4;  // known
  CHECK(shared(job) == 0);
}

TEST_CASE("the cores that settings lack, on Slurm: of the default partition, of no other cluster") {
  tests::FakeSystem fake;
  fake.processes.answer = answer_of_slurm;
  System system = fake.interfaces();
  JobRequest wanted = request_of(job_of(1, 1));
  wanted.parsed.lacks_cores = true;
  wanted.site.directives = {"-M other"};
  complete_cores(scheduler_runner(system), wanted);
  CHECK(wanted.settings.empty());
  CHECK(fake.processes.ran.empty());
  wanted.site.directives.clear();
  complete_cores(scheduler_runner(system), wanted);
  REQUIRE(wanted.settings.contains("cores_per_node"));
  CHECK(wanted.settings.at("cores_per_node").value.text == "2");  // "big" has 16
  CHECK(wanted.settings.at("cores_per_node").origin == "all 2 nodes, by sinfo");
}

TEST_SUITE_END();
