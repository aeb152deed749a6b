// SPDX-License-Identifier: MIT
// `ddlrun ssh-launch FILE`: starts the ranks of a start document over ssh, as mpirun does those of a
// rankfile.
#include "base/process/posix_child_pool.hpp"
#include "cli/commands/commands.hpp"
#include "launch/ssh/ssh_launcher.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <utility>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::uint64_t most_document_bytes = 64u << 20;

}  // namespace

Subcommand ssh_launch_command() {
  Subcommand command;
  command.name = "ssh-launch";
  command.summary = "start ranks over ssh, without MPI (used by launch --launcher ssh)";
  command.examples = R"(  ddlrun ssh-launch run/start.json)";
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto file = std::make_shared<std::string>();
    app.add_option("FILE", *file, "launch specification: the start.json of a run directory")->required();
    return [file](System& system) {
      SshLaunchSpec spec = parse_ssh_launch_spec(system.files.read(*file, most_document_bytes));
      PosixChildPool children;  // takes the signals of this process: after all that may be refused
      return SshLauncher(system, children, std::move(spec)).run();
    };
  };
  return command;
}

}  // namespace ddlrun::cli
