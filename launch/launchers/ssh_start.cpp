// SPDX-License-Identifier: MIT
#include "launch/launchers/ssh_start.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::string_view document_name = "start.json";

}  // namespace

LaunchLine plan_ssh_line(const SshRequest& request) {
  StartDocument document;
  document.sheet = request.sheet;
  document.sheet.bind = true;
  if (document.sheet.working_folder.empty()) document.sheet.working_folder = request.working_folder;
  document.program = request.program;
  document.exported = request.exports.names;
  document.ssh = request.ssh;
  document.ssh_arguments = request.ssh_arguments;
  const std::string path = request.run_folder + "/" + std::string(document_name);
  LaunchLine line;
  line.argv = {request.program.ddlrun, "start-hosts", path};
  line.files.push_back({path, render_start_document(document)});
  line.reasons.push_back(
      {"start-hosts", "one ssh a host, no MPI; all that the ranks get goes over its stdin"});
  line.reasons.push_back(
      {path, fmt::format("{} rank{} on {} host{}: places, program, and names of variables, whose values are "
                         "taken from the environment",
                         request.sheet.size(), request.sheet.size() == 1 ? "" : "s",
                         request.sheet.hosts.size(), request.sheet.hosts.size() == 1 ? "" : "s")});
  for (const Reason& reason : request.exports.reasons) line.reasons.push_back(reason);
  line.environment = request.exports.set_by_us;
  for (const auto& [name, value] : request.exports.set_by_user) line.environment[name] = value;
  return line;
}

}  // namespace ddlrun::launch
