// SPDX-License-Identifier: MIT
#include "launch/ssh/host_command.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/text.hpp"

namespace ddlrun::launch {

namespace {

// As one text for the shell of the account there, whatever that is. The same path first, as the same build
// lies there on most clusters.
std::string hand_command(const std::string& ddlrun) {
  return "exec sh -c '" + std::string(trusted_function) +
         R"([ -x "$0" ] && trusted "$0" && exec "$0" ssh-daemon; exec ddlrun ssh-daemon' )" +
         quote_shell(ddlrun);
}

}  // namespace

Command plan_host_command(const SshLaunchSpec& document, const RankMapHost& host, const std::string& ddlrun) {
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

}  // namespace ddlrun::launch
