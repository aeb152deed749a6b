// SPDX-License-Identifier: MIT
// `ddlrun start-ranks`: on each host of a plain start; reads what to start from stdin.
#include "cli/commands/commands.hpp"
#include "launch/ssh/ssh_daemon.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

Subcommand start_ranks_command() {
  Subcommand command;
  command.name = "start-ranks";
  command.summary = "start this host's ranks as start-hosts says over stdin";
  command.examples = "  ddlrun start-hosts starts it on each host";
  command.hidden = true;
  command.setup = [](CLI::App&, const std::vector<std::string>&) -> Run {
    return [](System& system) { return SshDaemon(system).run(); };
  };
  return command;
}

}  // namespace ddlrun::cli
