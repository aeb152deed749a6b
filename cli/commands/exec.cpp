// SPDX-License-Identifier: MIT
// `ddlrun exec`: what each rank runs first. It tells where the rank really is, then becomes the
// program.
#include "base/error.hpp"
#include "base/posix_rank.hpp"
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
#include "launch/open_mpi.hpp"
#include "launch/place_marker.hpp"
#include "launch/rank_identity.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ddlrun::cli {

namespace {

struct ExecOptions {
  std::string report_token;
  std::string colon;
  Command program;
};

std::string place_of(const Environment& environment) {
  const auto identity = launch::find_rank_identity(environment.variables);
  return identity ? fmt::format("rank {} on {}", identity->rank, environment.host_name)
                  : environment.host_name;
}

void report_place(System& system, const std::string& token) {
  const Environment& environment = system.environment;
  const auto identity = launch::find_rank_identity(environment.variables);
  if (!identity) {
    throw Error(ErrorKind::usage, {"--report needs a rank, and no launcher has set one",
                                   environment.host_name, "ddlrun launch 2 --verify -- ./my_mpi_program"});
  }
  system.err(launch::render_place_marker(
      token, {identity->rank, identity->local_rank, environment.host_name, read_own_cpuset()}));
}

// As a shell reports it: 127 not found, 126 found but not to be run.
int tell_failure(System& system, const std::string& program, int code) {
  const std::string name = printable(program, 120);
  const std::string hint =
      code == ENOENT
          ? fmt::format("command -v {0}; a script's first line must name a program too", quote_shell(name))
          : fmt::format("ls -l {}", quote_shell(name));
  system.err(render_error("ddlrun", {fmt::format("cannot start '{}': {}", name, std::strerror(code)),
                                     place_of(system.environment), hint}));
  return code == ENOENT ? 127 : 126;
}

int run_exec(System& system, const ExecOptions& options) {
  Command program = options.program;
  if (program.empty() || program[0].empty()) {
    throw Error(ErrorKind::usage, {"no program to become", "after --", "ddlrun exec -- ./my_mpi_program"});
  }
  if (!options.colon.empty()) program = launch::restore_colons(std::move(program), options.colon);
  end_with_parent();
  if (!options.report_token.empty()) report_place(system, options.report_token);
  return tell_failure(system, program[0], become_program(program));
}

}  // namespace

Subcommand exec_command() {
  Subcommand command;
  command.name = "exec";
  command.summary = "start one rank: tell its place, then become the program (launch uses it)";
  command.examples = "  mpirun -n 2 ddlrun exec --report mytoken -- ./my_mpi_program";
  command.takes_program = true;
  command.hidden = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<ExecOptions>();
    options->program = rest;
    app.add_option("--report", options->report_token,
                   "tell rank, host and cpuset on stderr, marked with this word");
    app.add_option("--colon", options->colon, "this word of the program stands for \":\"");
    return [options](System& system) { return run_exec(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
