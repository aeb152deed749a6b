// SPDX-License-Identifier: MIT
// `ddlrun ssh-daemon`: on each host of a plain start; reads what to start from stdin.
#include "launch/ssh/ssh_daemon.hpp"

#include "base/process/posix_child_pool.hpp"
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

using namespace launch;

Subcommand ssh_daemon_command() {
  Subcommand command;
  command.name = "ssh-daemon";
  command.summary = "start the ranks of this host (used by ssh-launch)";
  command.examples = R"(  ddlrun ssh-launch starts this command on each host)";
  command.hidden = true;
  command.setup = [](CLI::App&, const std::vector<std::string>&) -> Run {
    return [](System& system) {
      PosixChildPool children;
      return SshDaemon(system, children).run();
    };
  };
  return command;
}

}  // namespace ddlrun::cli
