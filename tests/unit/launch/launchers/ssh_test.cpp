// SPDX-License-Identifier: MIT
#include "launch/launchers/ssh.hpp"

#include "launch/ssh/host_command.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ddlrun;
using launch::parse_ssh_launch_spec;
using launch::plan_host_command;
using launch::plan_ssh_command;
using launch::SshRequest;

namespace {

SshRequest two_hosts() {
  SshRequest request;
  const auto machine = topology::regular_machine(1, 4, 1, "test");
  request.rank_map = launch::make_rank_map(
      topology::plan_job(topology::parse_dims("2x2x1"), {"h1", "h2"}, {machine}, {0, 0}, {}));
  request.run_directory = "/runs/7";
  request.workdir = "/home/me/my work";
  request.exports.names = {"PATH", "TOKEN"};
  request.exports.set_by_user = {{"TOKEN", "s3cret"}};
  request.program = {{"./prog", "--key=k3y"}, "/opt/d d/ddlrun", "", true, "", 0, "", false, {}};
  return request;
}

}  // namespace

TEST_SUITE_BEGIN("launch/launchers/ssh");

TEST_CASE("the line names the document, which names variables and holds no value") {
  const launch::LaunchCommand line = plan_ssh_command(two_hosts());
  CHECK(line.argv == Command{"/opt/d d/ddlrun", "ssh-launch", "/runs/7/start.json"});
  REQUIRE(line.files.size() == 1);
  CHECK(line.files[0].path == "/runs/7/start.json");
  CHECK(line.files[0].text.find("s3cret") == std::string::npos);
  CHECK(line.environment.at("TOKEN") == "s3cret");
  const launch::SshLaunchSpec document = parse_ssh_launch_spec(line.files[0].text);
  CHECK(document.rank_map.workdir == "/home/me/my work");
  CHECK(document.exported == std::vector<std::string>{"PATH", "TOKEN"});
  CHECK(document.program.program == Command{"./prog", "--key=k3y"});
}

TEST_CASE("nothing of the user's stands on what a host is reached by") {
  launch::SshLaunchSpec document = parse_ssh_launch_spec(plan_ssh_command(two_hosts()).files[0].text);
  document.addresses["h2"] = "10.0.0.2";
  document.ssh_arguments = {"-p", "2222"};
  const Command command = plan_host_command(document, document.rank_map.hosts[1], "/opt/d d/ddlrun");
  const auto has = [&](const std::string& word) {
    return std::find(command.begin(), command.end(), word) != command.end();
  };
  CHECK(command[0] == "ssh");
  for (const char* word :
       {"BatchMode=yes", "ServerAliveInterval=5", "ServerAliveCountMax=6", "ForwardAgent=no"}) {
    CHECK(has(word));
  }
  REQUIRE(command.size() > 3);
  CHECK(std::vector<std::string>(command.end() - 3, command.end() - 1) ==
        std::vector<std::string>{"--", "10.0.0.2"});
  CHECK(command.back().starts_with("exec sh -c '"));
  CHECK(command.back().ends_with(
      R"([ -x "$0" ] && trusted "$0" && exec "$0" ssh-daemon; exec ddlrun ssh-daemon' '/opt/d d/ddlrun')"));
  for (const std::string& word : command) {
    for (const char* secret : {"s3cret", "k3y", "TOKEN", "my work", "StrictHostKeyChecking"}) {
      CHECK(word.find(secret) == std::string::npos);
    }
  }
}

TEST_SUITE_END();
