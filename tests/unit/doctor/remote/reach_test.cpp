// SPDX-License-Identifier: MIT
// Reaching hosts: argv, problems by ssh's own words, retries, noise, clocks; with a fake ssh.
#include "doctor/remote/reach.hpp"

#include "base/text/error.hpp"
#include "doctor/remote/agent_protocol.hpp"
#include "doctor/remote/pbs.hpp"
#include "doctor/remote/target.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

const AgentBinary agent{"/opt/ddlrun/bin/ddlrun", "abc", "/lib64/ld.so", {{"ddlrun", "/proc/self/exe"}}};

std::string answer_of(const std::string& memlock) {
  ProbeResponse response;
  response.facts.set("limit.memlock.soft", memlock);
  response.facts.set_unknown("gpu.count", "no driver");
  response.failed_gatherers["disks"] = "no answer within 5000 ms";
  response.ready_us = 1'000'000;
  response.asked_us = 3'000'000;
  return "ddlrun-agent ready abc\nddlrun-agent answer\n" + render_probe_response_json(response) + "\n";
}

struct Bench {
  tests::FakeSystem fake;
  std::vector<HostReport> reports;

  Bench() { fake.files.files["/proc/self/exe"] = "binary"; }
  void reach(const std::vector<std::string>& hosts, ReachOptions options = {}) {
    std::vector<ProbeRequest> requests;
    for (const std::string& host : hosts) {
      requests.emplace_back();
      requests.back().host = host;
    }
    reports.assign(hosts.size(), {});
    System system = fake.interfaces();
    reach_hosts(system, requests, agent, options,
                [&](std::size_t at, HostReport&& report) { reports[at] = std::move(report); });
  }
};

}  // namespace

TEST_SUITE_BEGIN("doctor/remote/reach");

TEST_CASE("ssh's argv: batch mode, nothing forwarded, host keys as the user has them, the host behind --") {
  const Command command = plan_reach_command({}, "h2", "true", {"/opt/a b/ddlrun"});
  CHECK(command.front() == "ssh");
  const auto has = [&](const std::string& word) {
    return std::find(command.begin(), command.end(), word) != command.end();
  };
  CHECK(has("BatchMode=yes"));
  CHECK(has("ForwardAgent=no"));
  CHECK(has("ForwardX11=no"));
  for (const std::string& word : command) CHECK(word.find("StrictHostKeyChecking") == std::string::npos);
  REQUIRE(command.size() > 3);
  CHECK(command[command.size() - 3] == "--");
  CHECK(command[command.size() - 2] == "h2");
  CHECK(command.back() == "exec sh -c true '/opt/a b/ddlrun'");
}

TEST_CASE("problems by what ssh prints (OpenSSH 9.2)") {
  struct Row {
    std::string stderr_text;
    int status;
    bool timed_out;
    std::string kind;
  };
  const std::vector<Row> rows{
      {"ddl@minsky2: Permission denied (publickey).", 255, false, "no-key"},
      {"No ED25519 host key is known for minsky2 and you have requested strict checking.\r\nHost key "
       "verification "
       "failed.",
       255, false, "unknown-host-key"},
      {"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n...\nHost key verification failed.", 255,
       false, "changed-host-key"},
      {"ssh: connect to host minsky3 port 22: Connection refused", 255, false, "refused"},
      {"ssh: connect to host minsky3 port 22: Connection timed out", 255, false, "timeout"},
      {"ssh: connect to host minsky3 port 22: No route to host", 255, false, "no-route"},
      {"ssh: Could not resolve hostname nosuch: Temporary failure in name resolution", 255, false,
       "unknown-name"},
      {"kex_exchange_identification: Connection closed by remote host", 255, false, "kex-reset"},
      {"Connection closed by 10.1.1.3 port 22", 255, false, "kex-reset"},  // OpenSSH 10.0
      {"kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.1.1.2 port 22",
       255, false, "kex-reset"},
      {"Connection timed out during banner exchange\nConnection to 10.1.1.2 port 22 timed out", 255, false,
       "hung"},
      {"Timeout, server minsky2 not responding.", 255, false, "hung"},
      {"", 124, true, "hung"},
      {"sh: 1: srun: not found", 127, false, "missing-program"},
      {"something else", 1, false, "other"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.stderr_text);
    CHECK(classify_problem(row.stderr_text, row.status, row.timed_out) == row.kind);
  }
}

TEST_CASE("facts, unknown facts, failed gatherers, noise before the first word") {
  Bench bench;
  bench.fake.processes.answer = [](const Command&) {
    ProcessResult result;
    result.out = "hello from bashrc\nsecond\n" + answer_of("65536");
    return result;
  };
  bench.reach({"h1"});
  const HostReport& report = bench.reports[0];
  CHECK(report.reach.problem == "");
  CHECK(report.facts.is("limit.memlock.soft", "65536"));
  CHECK(report.facts.why_missing("gpu.count") == "no driver");
  CHECK(report.failed_gatherers.at("disks") == "no answer within 5000 ms");
  CHECK(report.reach.noise_bytes == 25);
  CHECK(report.reach.noise_start == "hello from bashrc");
}

TEST_CASE("a connection that sshd drops is tried again, a missing key is not") {
  Bench bench;
  int dropped = 0;
  bench.fake.processes.answer = [&](const Command& command) {
    ProcessResult result;
    if (command[1] == "-G") return result;
    const bool no_key = command[command.size() - 2] == "h2";
    if (no_key || ++dropped < 3) {
      result.exit_status = 255;
      result.err =
          no_key ? "Permission denied (publickey).\n" : "kex_exchange_identification: Connection closed\n";
    } else {
      result.out = answer_of("unlimited");
    }
    return result;
  };
  bench.reach({"h1", "h2"});
  CHECK(bench.reports[0].reach.problem == "");
  CHECK(bench.reports[0].reach.attempts == 3);
  CHECK(bench.reports[1].reach.problem_kind == "no-key");
  CHECK(bench.reports[1].reach.attempts == 1);
}

TEST_CASE("what a host answers is foreign") {
  const std::vector<std::string> answers{"",
                                         "{",
                                         "[]",
                                         "{}",
                                         R"({"schema":"ddlrun.agent/2"})",
                                         R"({"schema":"ddlrun.agent/1","facts":[]})",
                                         R"({"schema":"ddlrun.agent/1","facts":{"a":1}})",
                                         R"({"schema":"ddlrun.agent/1","facts":{},"ready_us":"x"})",
                                         std::string(100'000, '['),
                                         std::string(2u << 20, ' ')};
  for (const std::string& json : answers) {
    CAPTURE(json.substr(0, 60));
    Bench bench;
    bench.fake.processes.answer = [&](const Command&) {
      ProcessResult result;
      result.out = "ddlrun-agent ready abc\nddlrun-agent answer\n" + json + "\n";
      return result;
    };
    bench.reach({"h1"});
    CHECK(bench.reports[0].reach.problem != "");
    CHECK(bench.reports[0].reach.problem_kind == "agent");
  }
}

TEST_CASE("a name that is no host name is refused before anything runs") {
  Bench bench;
  CHECK_THROWS_AS(bench.reach({"h1", "-oProxyCommand=touch x"}), Error);
  CHECK(bench.fake.processes.ran.empty());
}

TEST_CASE("the agent's files are read for a connection, once, and not for this machine alone") {
  struct CountedFiles : tests::FakeFiles {
    int reads = 0;
    std::string read(const std::string& path, std::uint64_t max_bytes) override {
      ++reads;
      return tests::FakeFiles::read(path, max_bytes);
    }
  } files;
  files.files["/proc/self/exe"] = "binary";
  tests::FakeSystem fake;
  const System all = fake.interfaces();
  System system{all.processes, files, all.clock, all.environment, all.out, all.err};
  ProbeRequest here, h1, h2;
  here.host = "here";
  here.is_driver_host = true;
  h1.host = "h1";
  h2.host = "h2";
  const auto reads_for = [&](const std::vector<ProbeRequest>& requests) {
    files.reads = 0;
    fake.processes.ran.clear();
    reach_hosts(system, requests, agent, {}, [](std::size_t, HostReport&&) {});
    return files.reads;
  };
  CHECK(reads_for({here}) == 0);
  CHECK(fake.processes.ran == std::vector<Command>{{"/opt/ddlrun/bin/ddlrun", "agent", "--id", "abc"}});
  CHECK(reads_for({here, h1, h2}) == 1);
  const std::string sent = fake.processes.ran.back().back();  // name and size, for the shell over there
  CHECK(sent.ends_with("/opt/ddlrun/bin/ddlrun abc /lib64/ld.so ddlrun 6"));
}

TEST_CASE("a request survives its JSON") {
  ProbeRequest request;
  request.level = Level::full;
  request.host = "h2";
  request.names = {"h1", "h2"};
  request.ranks = 8;
  request.executable = "./train \"it\"\n";
  request.ports = {29500};
  const ProbeRequest back = parse_probe_request_json(render_probe_request_json(request));
  CHECK(back.level == Level::full);
  CHECK(back.names == request.names);
  CHECK(back.executable == request.executable);
  CHECK(back.ports == request.ports);
}

TEST_CASE("hosts behind one jump host share its connections") {
  CHECK(find_jump_host("user me\nproxyjump login.example\nport 22\n") == "proxyjump login.example");
  CHECK(find_jump_host("user me\nproxycommand none\n") == "");
  CHECK(find_jump_host("") == "");
}

TEST_CASE("pbsdsh: each line of the node file counts, short names too; requests and responses are files") {
  const std::string nodefile = "cn1.local\ncn1.local\ncn2.local\ncn3.local\n";
  CHECK(find_pbs_node(nodefile, "cn1") == 0);
  CHECK(find_pbs_node(nodefile, "cn3.local") == 3);
  CHECK_THROWS_WITH_AS(find_pbs_node(nodefile, "cn9"), "cn9 is not among the 3 hosts of this PBS job", Error);

  Bench bench;
  bench.fake.environment.variables["PBS_NODEFILE"] = "/nodes";
  bench.fake.environment.workdir = "/scratch/me";
  bench.fake.files.files["/nodes"] = nodefile;
  bench.fake.processes.answer = [&](const Command& command) {
    CHECK(command[0] == "pbsdsh");
    CHECK(command[2] == "2");
    CHECK(bench.fake.files.exists(command[command.size() - 3]));
    bench.fake.files.files[command.back()] = answer_of("unlimited");
    return ProcessResult{};
  };
  ReachOptions options;
  options.via = Via::pbsdsh;
  bench.reach({"cn2.local"}, options);
  CHECK(bench.reports[0].facts.is("limit.memlock.soft", "unlimited"));
  CHECK(bench.fake.files.files.size() == 2);  // nothing is left but the binary and the node file
}

TEST_SUITE_END();
