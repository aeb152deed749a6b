// SPDX-License-Identifier: MIT
// `ddlrun launch`.
#include "launch/run/launch.hpp"

#include "cli/argv_capture.hpp"
#include "cli/commands/commands.hpp"
#include "cli/dry_run_notes.hpp"
#include "cli/launch_flags.hpp"
#include "launch/plan/launch_spec.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <memory>
#include <string_view>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view launch_examples =
    R"(  ddlrun launch                                 # the bundled trainer on this machine
  ddlrun launch 2 -- ./my_mpi_program --steps 9 # two ranks on this machine
  ddlrun launch 4x2x1 h1,h2 -x DATA -- ./prog   # 4 ranks on each of two hosts
  ddlrun launch 2 --dry-run -- ./prog           # print the plan and the command, run nothing
  ddlrun launch 2 -- --epochs 3                 # options without a program go to the trainer)";

constexpr std::string_view launch_notes =
    R"(Without DIMS a host gets one rank per GPU. A host without GPUs gets about four ranks, evenly over its
packages and at most one per core: a rank on every core would make the global batch of a large host too
large to train with.

The ranks get PATH, LD_LIBRARY_PATH, CUDA_DEVICE_ORDER and OMP_NUM_THREADS, the variables of -x, and the
variables that pin the threads of the program's OpenMP runtime to the rank's cores. --dry-run explains
each variable, --affinity off (the default for PyTorch) sets none of the last kind, and a variable that you
set stays as it is. Ranks on this host get your whole environment, on other hosts with srun and, but for
secrets, with ssh; mpirun passes there only what -x names.

While the job runs, launch reports a stalled rank and a silent host. When it ends, launch reports the
rank that failed first and the cause. A supervisor beside each rank ends all processes of that rank.

The exit status is that of the program; 5 if a host was lost; 124 after --on-stall end.)";

}  // namespace

Subcommand launch_command() {
  Subcommand command;
  command.name = "launch";
  command.summary = "plan, check and start ranks with any launcher; verify where they run";
  command.examples = launch_examples;
  command.notes = launch_notes;
  command.takes_program = true;
  command.may_be_empty = "DIMS";
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto flags = std::make_shared<LaunchFlags>();
    flags->program = rest;
    add_launch_options(app, *flags);
    return [flags, &app](System& system) {
      flags->origin.is_typed = true;
      flags->origin.captured_arguments = captured_arguments(app);
      constexpr std::array<std::string_view, 1> own{"--dry-run"};
      const auto own_option = find_own_option("ddlrun launch", own, flags->program);
      // In a job of submit, it was said before the job was handed in.
      const bool is_job = !system.environment.get("DDLRUN_JOB_ID").empty();
      if (own_option && !flags->dry_run && !is_job)
        system.err(render_message("ddlrun", "warning", *own_option));
      return run_launch_spec(system, resolve_launch_spec(system, *flags));
    };
  };
  return command;
}

}  // namespace ddlrun::cli
