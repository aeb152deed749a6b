// SPDX-License-Identifier: MIT
// The start: hosts that prepare, refuse, are late or cannot be reached.
#include "base/text/error.hpp"
#include "tests/unit/launch/ssh/fake_ssh_job.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using namespace ddlrun::launch;
using std::chrono::milliseconds;
using std::chrono::seconds;
using tests::FakeSshJob;

TEST_SUITE_BEGIN("launch/ssh/ssh_launcher");

TEST_CASE("ranks start once all hosts are prepared; their output passes; the status is the job's") {
  FakeSshJob job;
  job.silent = {1};
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word != SshMessageType::start) return;
    CHECK(job.pool.elapsed() >= milliseconds(700));
    job.reply(child, {SshMessageType::out, static_cast<std::uint32_t>(2 * child), 0, "epoch 1\n"});
    job.reply(child, {SshMessageType::err, static_cast<std::uint32_t>(2 * child), 0, "a warning\n"});
    job.end_ranks(child, 0, milliseconds(50));
  };
  job.pool.print(1, "Welcome to h2\n" + handshake_line(read_own_binary().build_id), milliseconds(600));
  job.reply(1, {SshMessageType::prepared, 0, 0, ""}, milliseconds(700));
  CHECK(job.run() == 0);
  CHECK(job.pool.out == "epoch 1\nepoch 1\n");
  CHECK(job.pool.err == "Welcome to h2\na warning\na warning\n");
  REQUIRE(job.messages.size() == 4);
  for (const std::uint32_t host : {0u, 1u}) {
    CHECK(job.messages[host].word == SshMessageType::spec);
    CHECK(job.messages[host].number == host);
    CHECK(parse_ssh_host_spec(job.messages[host].bytes).rank_map == job.spec.rank_map);
    CHECK(job.pool.children[host].spec.command.front() == "ssh");
  }
  CHECK(job.count(SshMessageType::start) == 2);
}

TEST_CASE("this host needs no ssh; values of variables travel by stdin only") {
  FakeSshJob job;
  job.spec.rank_map.hosts = {{"here", 0, {0, 1, 2, 3}}};
  job.spec.exported = {"TOKEN", "ABSENT"};
  job.fake.environment.variables["TOKEN"] = "s3cret";
  job.fake.environment.variables["API_TOKEN"] = "not exported";
  job.fake.environment.variables["CRASH"] = "2";
  job.fake.environment.variables["HOME"] = "/home/ada";
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::start) job.end_ranks(child, 0);
  };
  CHECK(job.run() == 0);
  REQUIRE(job.pool.children.size() == 1);
  CHECK(job.pool.children[0].spec.command == Command{"/opt/ddlrun/bin/ddlrun", "ssh-daemon"});
  CHECK(parse_ssh_host_spec(job.messages.at(0).bytes).values == EnvVars{{"CRASH", "2"}, {"TOKEN", "s3cret"}});
}

TEST_CASE("a host that refuses keeps all others from starting") {
  FakeSshJob job;
  job.silent = {1};
  job.pool.print(1, handshake_line(read_own_binary().build_id));
  job.reply(1,
            {SshMessageType::refused, 0, 3, "the working directory is not on this host\n/data/x\nmount it"},
            milliseconds(20));
  job.pool.on_signal = [&](std::size_t child, int) { job.pool.exit(child, 143); };
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::stop) job.pool.exit(child, 0);
  };
  CHECK(job.run() == exit_code(ErrorKind::request));
  CHECK(job.count(SshMessageType::start) == 0);
  CHECK(job.count(SshMessageType::stop) == 1);
  CHECK(job.messages.back().number == 1);  // at once
  CHECK(job.pool.children[1].signals == std::vector<int>{SIGTERM});
  CHECK(job.pool.children[1].input_closed);
  CHECK(job.says("h2: the working directory is not on this host\n  at:  /data/x\n  try: mount it\n"));
  CHECK(job.says("ddlrun: nothing was started\n"));
}

TEST_CASE("a host that cannot be reached, one without ddlrun, one with another build: all are reported") {
  FakeSshJob job;
  job.spec.rank_map.hosts = {{"h1", 0, {0}}, {"h2", 0, {1}}, {"h3", 0, {2}}, {"h4", 0, {3}}};
  job.silent = {0, 1, 2};
  job.pool.print_err(
      0, "Pseudo-terminal will not be allocated\nssh: connect to host h1 port 22: No route to host\n");
  job.pool.exit(0, 255, milliseconds(5));
  job.pool.print_err(1, "sh: 1: exec: ddlrun: not found\n");
  job.pool.exit(1, 127, milliseconds(5));
  job.pool.print(2, handshake_line("0123"));
  job.pool.on_signal = [&](std::size_t child, int) { job.pool.exit(child, 143); };
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::stop) job.pool.exit(child, 0);
  };
  CHECK(job.run() == exit_code(ErrorKind::request));  // what the user must mend first
  CHECK(job.says("h1 cannot be reached: ssh: connect to host h1 port 22: No route to host"));
  CHECK(job.says("ddlrun doctor h1; ssh -o BatchMode=yes h1 true"));
  CHECK(job.says("h2 has no ddlrun that can start ranks: sh: 1: exec: ddlrun: not found"));
  CHECK(job.says("h3 has another build of ddlrun"));
  CHECK_FALSE(job.says("h4"));
  CHECK(job.count(SshMessageType::start) == 0);
}

TEST_CASE("a connection that sshd drops is tried four times, later each time") {
  FakeSshJob job;
  job.spec.rank_map.hosts = {{"h1", 0, {0, 1, 2, 3}}};
  bool recovers = false;
  const std::string dropped = "kex_exchange_identification: Connection closed by remote host\n";
  job.silent = {0, 1, 2, 3};
  job.pool.on_start = [&](std::size_t child) {
    if (recovers && child == 3) return job.pool.print(child, handshake_line(read_own_binary().build_id));
    job.pool.print_err(child, dropped);
    job.pool.exit(child, 255, milliseconds(1));
  };
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::spec) job.reply(child, {SshMessageType::prepared, 0, 0, ""});
    if (message.word != SshMessageType::start) return;
    for (const std::uint32_t rank : {0u, 1u, 2u, 3u}) job.reply(child, {SshMessageType::ended, rank, 0, ""});
    job.pool.exit(child, 0, milliseconds(1));
  };
  SUBCASE("until it holds") {
    recovers = true;
    CHECK(job.run() == 0);
  }
  SUBCASE("and is then given up") {
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.says("h1 cannot be reached: kex_exchange_identification"));
  }
  REQUIRE(job.pool.children.size() == 4);
  const auto pause = [&](std::size_t attempt) {
    return job.pool.children[attempt].started - job.pool.children[attempt - 1].started;
  };
  CHECK(pause(1) >= milliseconds(500));
  CHECK(pause(2) >= milliseconds(1000));
  CHECK(pause(3) >= milliseconds(2000));
  CHECK(pause(3) < milliseconds(2500));
}

TEST_CASE(
    "a host that is not prepared within 30 s ends the start; one that prints without end does at once") {
  FakeSshJob job;
  job.silent = {1};
  job.pool.on_signal = [&](std::size_t child, int) { job.pool.exit(child, 143); };
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::stop) job.pool.exit(child, 0);
  };
  SUBCASE("late") {
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.says("h2 is not ready within 30 s"));
    CHECK(job.pool.elapsed() >= seconds(30));
    CHECK(job.pool.elapsed() < seconds(31));
  }
  SUBCASE("endless") {
    job.pool.print(1, std::string(2u << 20, 'x'));
    CHECK(job.run() == exit_code(ErrorKind::unreachable));
    CHECK(job.says("h2 prints without end before ddlrun starts"));
    CHECK(job.pool.elapsed() < seconds(1));
  }
}

TEST_CASE("no more than 32 connections begin at a time") {
  FakeSshJob job;
  job.spec.rank_map.hosts.clear();
  for (std::uint32_t node = 0; node < 100; ++node)
    job.spec.rank_map.hosts.push_back({"n" + std::to_string(node), 0, {node}});
  job.spec.rank_map.groups[0].ranks = 100;
  std::size_t starting = 0, most = 0;
  job.pool.on_start = [&](std::size_t child) {
    most = std::max(most, ++starting);
    job.pool.print(child, handshake_line(read_own_binary().build_id), milliseconds(200));
  };
  job.on_message = [&](std::size_t child, const SshMessage& message) {
    if (message.word == SshMessageType::spec) --starting;
    if (message.word == SshMessageType::start) job.end_ranks(child, 0);
  };
  CHECK(job.run() == 0);
  CHECK(most == 32);
  CHECK(job.pool.children.size() == 100);
}

TEST_CASE("more hosts than the system has descriptors are refused before anything starts") {
  FakeSshJob job;
  job.pool.has_room = false;
  CHECK_THROWS_WITH_AS(job.run(), doctest::Contains("2 hosts need 72 open files, fewer are allowed"), Error);
  CHECK(job.pool.children.empty());
}

TEST_SUITE_END();
