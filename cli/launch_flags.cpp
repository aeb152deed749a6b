// SPDX-License-Identifier: MIT
#include "cli/launch_flags.hpp"

#include "cli/framework_flags.hpp"
#include "cli/machine_flags.hpp"
#include "cli/plan_flags.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

namespace {

// What the lines of other launchers become; shown by IBM's line, so help has them too.
constexpr const char* other_words = "In the words of other launchers";

void add_restart_options(CLI::App& app, LaunchOptions& options) {
  const std::string group = "Restart";
  app.add_option("--max-restarts", options.max_restarts,
                 "start again so many times after a bad end (0); not after status 2, 126 and 127")
      ->group(group);
  app.add_option(
         "--on-lost-host", options.on_lost_host,
         "leave-out: go on with the others; wait: until it answers; auto (default): leave out unless DIMS "
         "were given")
      ->group(group);
  app.add_option("--host-wait", options.host_wait, "seconds to wait for a lost host (600)")->group(group);
  app.add_option("--restart-arg", options.restart_arguments,
                 "one word for the program from the second start on; the trainer gets --resume by itself")
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace

void add_launch_options(CLI::App& app, LaunchOptions& options) {
  app.add_option("DIMS", options.dims,
                 "GPUs per host x hosts per rack x racks, like 4x2x3; default: what is there");
  app.add_option("HOSTS", options.hosts, "h1,h2 or node[01-04] or @file; default: this machine");
  app.add_option("-H,--hosts", options.hosts_option,
                 "the same as HOSTS; h1:4,h2:4 gives DIMS' first factor too");
  app.add_option("--accelerators", options.accelerators, "DIMS one by one: ranks per host")
      ->group(other_words);
  app.add_option("--nodes", options.nodes, "hosts per rack")->group(other_words);
  app.add_option("--racks", options.racks, "racks per aisle")->group(other_words);
  app.add_option("--aisles", options.aisles, "aisles")->group(other_words);
  app.add_option("--hostfile", options.hostfile, "hosts, one a line; slots= is ignored");
  app.add_option("--rankfile", options.rankfile, "use this rankfile instead of a plan; it is checked first");
  add_plan_options(app, options.plan);
  add_machine_options(app, options.machine);
  app.add_option("--threads", options.threads, "threads of each rank; default: one for each of its cores");
  app.add_option("--affinity", options.affinity,
                 "auto: places for the OpenMP runtime that the program links; off, libgomp, libomp");
  app.add_flag("--show-threads", options.show_threads, "let the OpenMP runtime print what it took");
  app.add_option("-x", options.exports, "export VAR, all VAR_*, or set and export VAR=value; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--export-default", options.default_exports,
                 "set and export VAR=value where VAR is not set; for values anybody may see")
      ->allow_extra_args(false)
      ->group(other_words);
  app.add_option("--mca", options.mca, "NAME VALUE for Open MPI; may be repeated")->allow_extra_args(false);
  app.add_option("--mpi-arg", options.mpi_arguments, "one word for mpirun as it is; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--launcher", options.launcher,
                 "auto: what mpirun is, or srun in a job of Slurm's without one; openmpi, mpich, intelmpi, "
                 "srun, ssh: no MPI");
  app.add_option("--mpirun", options.mpirun, "the mpirun to use");
  app.add_option(
      "--memory", options.memory,
      "local (default): where it is touched; preferred, bind: from the NUMA node of the rank's cores");
  app.add_option("--gpu-view", options.gpu_view,
                 "GPUs that a rank sees: all, one: its own, host: those of all ranks of its host; default: "
                 "all, or what the framework expects");
  app.add_option("--run-folder", options.run_folder,
                 "where rankfile, argv, plan and result of this run are kept");
  app.add_option("--interface", options.interface,
                 "network between the hosts: CIDR, interface name or none; default: the one all share");
  app.add_flag("--tag-output", options.tag_output, "put the rank before each line of output");
  app.add_option(
      "--output", options.output,
      "screen (default), prefix: the rank before each line, files: RUN/out/rank-0007.out and .err");
  app.add_flag("--tee", options.tee, "keep each rank's output in files, and show it too");
  app.add_flag("--dry-run", options.dry_run, "print what would be done, as a script; run and write nothing");
  app.add_flag("--verify", options.verify,
               "compare each rank's real cores with the plan (default for the trainer)");
  app.add_flag("--no-verify", options.no_verify, "start the program directly");
  app.add_flag("--strict", options.strict, "--verify, and exit 1 if a rank is not where it was planned");
  app.add_option("--stall-after", options.stall_after,
                 "tell at most so many seconds after a rank stopped to get on (60); 0: never");
  app.add_option("--on-stall", options.on_stall,
                 "warn (default), or end the job with status 124 if a rank is stopped or a host is silent");
  app.add_flag("--no-watch", options.no_watch,
               "no keeper beside each rank: nobody tells of stalls, or ends what a killed job leaves");
  app.add_flag("--no-diagnose", options.no_diagnose, "do not say why a job ended badly");
  app.add_option("--programs", options.programs,
                 "YAML: which ranks, or which hosts' ranks, run which program; instead of -- PROGRAM");
  add_restart_options(app, options);
  add_framework_options(app, options.framework);
  app.add_flag("--allow-run-as-root", options.allow_run_as_root, "let mpirun run as root");
}

}  // namespace ddlrun::cli
