// SPDX-License-Identifier: MIT
#include "topology/sources/machine_loader.hpp"

#include "base/text/error.hpp"
#include "tests/support/fake_system.hpp"
#include "topology/machine_json.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace ddlrun;
using namespace ddlrun::topology;
using ddlrun::tests::FakeSystem;

namespace {

Message refusal(FakeSystem& fake, const MachineOptions& options, ErrorKind kind) {
  System system = fake.interfaces();
  try {
    machine_from_options(system, options);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.message();
  }
  FAIL("accepted");
  return {};
}

ProcessResult answer(const std::string& out) {
  ProcessResult result;
  result.out = out;
  return result;
}

std::string saved_machine(int cores) {
  return topology::render_machine_json(topology::regular_machine(1, cores, 1, "there"));
}

}  // namespace

TEST_SUITE_BEGIN("topology/sources/machine_loader");

TEST_CASE("options name one machine") {
  struct Row {
    MachineOptions options;
    const char* what;
  };
  MachineOptions both, sockets, cores, zero, word, huge, stdin_file;
  both.synthetic = "pack:2";
  both.topology_file = "m.xml";
  sockets.sockets_text = "2";
  cores.cores_text = "2";
  zero.sockets_text = "0";
  word.sockets_text = "two";
  huge.sockets_text = huge.cores_text = "1024";
  stdin_file.topology_file = "-";
  const Row rows[] = {
      {both, "--topology, --synthetic and --sockets/--cores each name a machine: use one"},
      {sockets, "--sockets needs --cores, the cores of each package"},
      {cores, "--cores is per package and needs --sockets"},
      {zero, "--sockets must be a whole number from 1 to 1024, not '0'"},
      {word, "--sockets must be a whole number from 1 to 1024, not 'two'"},
      {huge, "1024 packages x 1024 cores x 1 threads are 1048576 threads, more than 262144"},
      {stdin_file, "--topology reads a file, not the standard input"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    FakeSystem fake;
    CHECK(any_given(row.options));
    CHECK(refusal(fake, row.options, ErrorKind::usage).what == row.what);
    CHECK(fake.processes.ran.empty());
  }
  CHECK(!any_given({}));
}

TEST_CASE("counts need no process") {
  FakeSystem fake;
  System system = fake.interfaces();
  MachineOptions options;
  options.sockets_text = "2";
  options.cores_text = "3";
  options.smt_text = "4";
  CHECK(machine_from_options(system, options) ==
        topology::regular_machine(2, 3, 4, "--sockets 2 --cores 3 --smt 4"));
  CHECK(fake.processes.ran.empty());
}

TEST_CASE("a file is read by a child") {
  FakeSystem fake;
  fake.processes.answer = [](const Command&) { return answer(saved_machine(3)); };
  System system = fake.interfaces();
  const auto machine = machine_from_file(system, "-m.xml");
  CHECK(machine.cores.size() == 3);
  CHECK(machine.source == "file -m.xml");
  CHECK(fake.processes.ran ==
        std::vector<Command>{{"/opt/ddlrun/bin/ddlrun", "read-topology", "--file=-m.xml"}});
}

TEST_CASE("a child that dies or refuses is a refusal with place and remedy") {
  struct Row {
    std::function<void(ProcessResult&)> ended;
    const char* what;
  };
  const Row rows[] = {
      {[](ProcessResult& r) { r.signal = SIGSEGV, r.exit_status = 128 + SIGSEGV; },
       "hwloc could not load it: the reader ended by signal 11"},
      {[](ProcessResult& r) { r.timed_out = true; },
       "hwloc could not load it: the reader took longer than 15 s"},
      {[](ProcessResult& r) { r.start_error = "No such file or directory", r.exit_status = 127; },
       "hwloc could not load it: the reader could not be started: No such file or directory"},
      {[](ProcessResult& r) { r.exit_status = 70; },
       "hwloc could not load it: the reader ended with status 70"},
      {[](ProcessResult& r) { r.truncated = true; },
       "hwloc could not load it: the reader wrote more than 67108864 bytes"},
      {[](ProcessResult& r) {
         r.exit_status = 3, r.err = "ddlrun: error: no cores\n  at:  m.xml\n  try: lstopo\n";
       },
       "no cores"},
      {[](ProcessResult& r) { r.exit_status = 3, r.err = "ddlrun: error: half a mess"; },
       "hwloc could not load it: the reader ended with status 3"},
      {[](ProcessResult& r) { r.out = "{}"; }, "$.schema is missing"},
  };
  MachineOptions options;
  options.topology_file = "m.xml";
  for (const Row& row : rows) {
    CAPTURE(row.what);
    FakeSystem fake;
    fake.processes.answer = [&](const Command&) {
      ProcessResult result;
      row.ended(result);
      return result;
    };
    const Message message = refusal(fake, options, ErrorKind::request);
    CHECK(message.what == row.what);
    CHECK(message.where == "m.xml");
    CHECK(!message.hint.empty());
  }
}

TEST_CASE("hosts are asked by one constant pipeline each") {
  FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    ProcessResult result = answer(saved_machine(command[4] == "h2" ? 8 : 4));
    if (command[4] == "h3") {
      result.exit_status = 3;
      result.err =
          "ssh: connect to host h3 port 22: Connection refused\r\nddlrun: error: the host did not answer\n  "
          "try: x\n";
    }
    return result;
  };
  System system = fake.interfaces();
  const auto remotes = machines_of_hosts(system, {"h1", "h2", "h3"}, "", HostPath::ssh);
  REQUIRE(remotes.size() == 3);
  CHECK(remotes[0].machine->cores.size() == 4);
  CHECK(remotes[0].machine->source == "ssh h1");
  CHECK(remotes[1].machine->cores.size() == 8);
  CHECK(!remotes[2].machine);
  CHECK(remotes[2].failure == "ssh: connect to host h3 port 22: Connection refused");
  REQUIRE(fake.processes.ran.size() == 3);
  CHECK(fake.processes.ran[0][2] == fake.processes.ran[1][2]);
  CHECK(fake.processes.ran[0][4] == "h1");
  CHECK(fake.processes.ran[0][5] == fake.processes.ran[1][5]);
}

TEST_CASE("a host that lacks the directory is marked, and its topology is read") {
  FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    ProcessResult result = answer(saved_machine(4));
    if (command[4] == "h2") result.err = "a banner\nddlrun-no-such-directory\n";
    return result;
  };
  System system = fake.interfaces();
  const auto remotes = machines_of_hosts(system, {"h1", "h2"}, "/a 'b'", HostPath::ssh);
  CHECK_FALSE(remotes[0].lacks_directory);
  CHECK(remotes[1].lacks_directory);
  CHECK(remotes[1].machine);
  CHECK(fake.processes.ran[0][5].ends_with(R"( '/a '\''b'\''')"));
}

TEST_CASE("the interfaces of a host come with its machine, and are no failure") {
  FakeSystem fake;
  fake.processes.answer = [](const Command& command) {
    ProcessResult result = answer(saved_machine(4));
    result.err = "a banner\nddlrun-interface lo up\nddlrun-interface eth0 up addr=10.1.1.1/24\n";
    if (command[4] == "h2") result.exit_status = 3;
    return result;
  };
  System system = fake.interfaces();
  const auto remotes = machines_of_hosts(system, {"h1", "h2"}, "", HostPath::ssh);
  CHECK(remotes[0].interfaces == std::vector<std::string>{"lo up", "eth0 up addr=10.1.1.1/24"});
  CHECK(remotes[1].failure == "a banner");
}

TEST_CASE("where no one answers the rest is not asked") {
  FakeSystem fake;
  fake.processes.answer = [](const Command&) {
    ProcessResult result;
    result.exit_status = 255;
    return result;
  };
  System system = fake.interfaces();
  const auto remotes = machines_of_hosts(system, std::vector<std::string>(100, "h"), "", HostPath::ssh);
  CHECK(remotes.size() == 100);
  CHECK(fake.processes.ran.size() == 32);
  CHECK(remotes[99].failure == "not asked: none of the first 32 hosts answered");
}

TEST_CASE("what is no host name never reaches ssh") {
  FakeSystem fake;
  System system = fake.interfaces();
  for (const char* name : {"-oProxyCommand=x", "h;x", "", "a b", "$(x)"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(machines_of_hosts(system, {name}, "", HostPath::ssh), Error);
  }
  CHECK(fake.processes.ran.empty());
}

TEST_SUITE_END();
