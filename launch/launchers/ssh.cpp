// SPDX-License-Identifier: MIT
#include "launch/launchers/ssh.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::string_view document_name = "start.json";

}  // namespace

LaunchCommand plan_ssh_command(const SshRequest& request) {
  SshLaunchSpec document;
  document.rank_map = request.rank_map;
  if (document.rank_map.workdir.empty()) document.rank_map.workdir = request.workdir;
  document.program = request.program;
  document.exported = request.exports.names;
  document.ssh = request.ssh;
  document.ssh_arguments = request.ssh_arguments;
  const std::string path = request.run_directory + "/" + std::string(document_name);
  LaunchCommand line;
  line.argv = {request.program.ddlrun, "ssh-launch", path};
  line.files.push_back({path, render_ssh_launch_spec(document)});
  line.reasons.push_back(
      {"ssh-launch", "one ssh a host, no MPI; all that the ranks get goes over its stdin"});
  line.reasons.push_back(
      {path, fmt::format("{} rank{} on {} host{}: places, program, and names of variables, whose values are "
                         "taken from the environment",
                         request.rank_map.size(), request.rank_map.size() == 1 ? "" : "s",
                         request.rank_map.hosts.size(), request.rank_map.hosts.size() == 1 ? "" : "s")});
  for (const Reason& reason : request.exports.reasons) line.reasons.push_back(reason);
  line.environment = request.exports.set_by_us;
  for (const auto& [name, value] : request.exports.set_by_user) line.environment[name] = value;
  return line;
}

}  // namespace ddlrun::launch
