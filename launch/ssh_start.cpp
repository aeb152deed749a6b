// SPDX-License-Identifier: MIT
#include "launch/ssh_start.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::string_view document_name = "start.json";

// As one text for the shell of the account there, whatever that is. The same path first, as the same build
// lies there on most clusters.
std::string hand_command(const std::string& ddlrun) {
  return R"(exec sh -c '[ -x "$0" ] && exec "$0" start-ranks; exec ddlrun start-ranks' )" +
         quote_shell(ddlrun);
}

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

Command plan_host_command(const StartDocument& document, const SheetHost& host, const std::string& ddlrun) {
  const auto address = document.addresses.find(host.name);
  Command command{document.ssh, "-T"};
  for (const char* option :
       {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=6",
        "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "ControlMaster=no"}) {
    command.insert(command.end(), {"-o", option});
  }
  command.insert(command.end(), document.ssh_arguments.begin(), document.ssh_arguments.end());
  command.insert(command.end(), {"--", address == document.addresses.end() ? host.name : address->second,
                                 hand_command(ddlrun)});
  return command;
}

EnvVars rank_identity_variables(const SheetRank& rank) {
  const auto number = [](std::uint32_t value) { return fmt::format("{}", value); };
  return {{"DDLRUN_RANK", number(rank.rank)},
          {"DDLRUN_SIZE", number(rank.size)},
          {"DDLRUN_LOCAL_RANK", number(rank.local_rank)},
          {"DDLRUN_LOCAL_SIZE", number(rank.local_size)},
          {"DDLRUN_NODE_RANK", number(rank.node)},
          {"DDLRUN_NODE_COUNT", number(rank.nodes)}};
}

}  // namespace ddlrun::launch
