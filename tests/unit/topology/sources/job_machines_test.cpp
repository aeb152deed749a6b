// SPDX-License-Identifier: MIT
#include "topology/sources/job_machines.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"
#include "topology/machine_json.hpp"
#include "topology/sources/unreached_hint.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

std::string machine_of(int packages, int cores) {
  auto machine = topology::regular_machine(packages, cores, 1, "this host");
  machine.host_name = "reported";
  return topology::render_machine_json(machine);
}

// The host that a pipeline "ssh HOST | reader" goes to: sh -c PIPELINE NAME HOST ...
std::string target_of(const Command& command) { return command.size() > 4 ? command[4] : ""; }

}  // namespace

TEST_SUITE_BEGIN("topology/sources/job_machines");

TEST_CASE("hosts come from a list, a file or a hostfile, but not from two of them") {
  tests::FakeSystem fake;
  fake.files.files["hosts"] = "a slots=2\nb\n";
  System system = fake.interfaces();
  CHECK(read_host_names(system, "a,b", "") == std::vector<std::string>{"a", "b"});
  CHECK(read_host_names(system, "@hosts", "") == std::vector<std::string>{"a", "b"});
  CHECK(read_host_names(system, "", "hosts") == std::vector<std::string>{"a", "b"});
  CHECK(read_host_names(system, "", "").empty());
  CHECK_THROWS_AS(read_host_names(system, "a", "hosts"), Error);
  fake.files.files["empty"] = "# no host\n";
  CHECK_THROWS_AS(read_host_names(system, "@empty", ""), Error);
}

TEST_CASE("hosts that are alike are one machine, others are not") {
  tests::FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    ProcessResult result;
    result.out = target_of(command) == "big" ? machine_of(2, 10) : machine_of(1, 4);
    return result;
  };
  System system = fake.interfaces();
  const JobMachines job = find_job_machines(system, {"small1", "big", "small2"}, {}, Unprobed::refuse);
  CHECK(job.machines.size() == 2);
  CHECK(job.machine_of_host == std::vector<std::uint32_t>{0, 1, 0});
  for (const Command& command : fake.processes.ran) {
    CHECK(command[2].starts_with("ssh -o BatchMode=yes -o ConnectTimeout=3 "));
    CHECK(command[2].find("StrictHostKeyChecking") == std::string::npos);
  }
}

TEST_CASE("beside other hosts, this one is read without ssh") {
  tests::FakeSystem fake;
  fake.environment.host_name = "here";
  fake.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out = machine_of(1, 4);
    return result;
  };
  System system = fake.interfaces();
  const JobMachines job = find_job_machines(system, {"here", "h2"}, {}, Unprobed::refuse);
  CHECK(job.machine_of_host == std::vector<std::uint32_t>{0, 0});
  CHECK(job.machines[0].source == "this host");
  REQUIRE(fake.processes.ran.size() == 2);
  CHECK(fake.processes.ran[0][2].starts_with("sh -c \"$2\" | "));
  CHECK(fake.processes.ran[1][2].starts_with("ssh "));
}

TEST_CASE("some hosts silent is an error that names them; all silent is an assumption or an error") {
  tests::FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    ProcessResult result;
    result.out = machine_of(2, 10);
    if (target_of(command) == "dead") {
      result.out.clear();
      result.err = "ssh: connect to host dead port 22: No route to host\n";
      result.exit_status = 255;
    }
    return result;
  };
  System system = fake.interfaces();
  try {
    find_job_machines(system, {"a", "dead", "b"}, {}, Unprobed::assume);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unreachable);
    CHECK(error.message().what.find("1 of 3 hosts") != std::string::npos);
    CHECK(error.message().what.find("dead") != std::string::npos);
  }
  const JobMachines assumed = find_job_machines(system, {"dead"}, {}, Unprobed::assume);
  CHECK(assumed.machines[0].assumed);
  CHECK(assumed.machines[0].cores.size() == 20);
  CHECK(fake.err.find("ASSUMED") != std::string::npos);
  CHECK_THROWS_AS(find_job_machines(system, {"dead"}, {}, Unprobed::refuse), Error);
}

TEST_CASE("counts on the command line need no host to be asked") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  MachineOptions options;
  options.sockets = 2;
  options.cores = 8;
  const JobMachines job = find_job_machines(system, {"a", "b"}, options, Unprobed::refuse);
  CHECK(job.machines.size() == 1);
  CHECK(job.machines[0].cores.size() == 16);
  CHECK_FALSE(job.machines[0].assumed);
  CHECK(fake.processes.ran.empty());
}

TEST_CASE("a host that is not known, and a file of that name here") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  const std::string failure = "ssh: Could not resolve hostname hosts: Name or service not known";
  CHECK(unreached_hint(system, "hosts", failure) == "ddlrun doctor hosts");
  fake.files.files["hosts"] = "node1\nnode2\n";
  CHECK(unreached_hint(system, "hosts", failure) ==
        "--hostfile hosts, where the file hosts here has the hosts; else: ddlrun doctor hosts");
  CHECK(unreached_hint(system, "hosts", "Connection refused") == "ddlrun doctor hosts");
}

TEST_SUITE_END();
