// SPDX-License-Identifier: MIT
// `ddlrun launch`.
#include "launch/run/launch.hpp"

#include "cli/argv_capture.hpp"
#include "cli/commands/commands.hpp"
#include "cli/launch_flags.hpp"
#include "launch/plan/job_shape.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::string_view launch_examples =
    "  ddlrun launch                                 # the bundled trainer, ranks as this machine "
    "has them\n"
    "  ddlrun launch 2 -- ./my_mpi_program --steps 9 # two ranks here\n"
    "  ddlrun launch 4x2x1 h1,h2 -x DATA -- ./prog   # 4 ranks on each of two hosts\n"
    "  ddlrun launch 2 --dry-run -- ./prog           # shows all, runs and writes nothing\n"
    "  ddlrun launch 2 -- --epochs 3                 # options only: the trainer gets them\n\n"
    "Without DIMS a host gets one rank per GPU; without GPUs about four ranks, evenly over its "
    "packages\n"
    "and never more than cores: one per core would make the global batch of a large host too large "
    "to\n"
    "train with. PATH, LD_LIBRARY_PATH, CUDA_DEVICE_ORDER and OMP_NUM_THREADS reach the ranks, what -x\n"
    "names, and what puts the threads of the program's OpenMP runtime on the rank's cores, one on each:\n"
    "--dry-run tells why, --affinity off leaves them alone; a variable that you set stays. The exit\n"
    "status is the program's own; 5 if a host was lost, 124 after --on-stall end.\n\n"
    "While it runs, a rank that is stopped and a host that is silent are named; when it ends, so is who\n"
    "failed first and why. A keeper beside each rank ends whatever the rank leaves behind.";

}  // namespace

Subcommand launch_command() {
  Subcommand command;
  command.name = "launch";
  command.summary = "plan, check and start ranks with any launcher, and verify where they run";
  command.examples = launch_examples;
  command.takes_program = true;
  command.may_be_empty = "DIMS";
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<LaunchOptions>();
    options->program = rest;
    add_launch_options(app, *options);
    return [options, &app](System& system) {
      options->is_typed = true;
      options->words = captured_arguments(app);
      resolve_hosts(*options);
      return run_launch_command(system, *options);
    };
  };
  return command;
}

}  // namespace ddlrun::cli
