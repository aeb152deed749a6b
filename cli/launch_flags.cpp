// SPDX-License-Identifier: MIT
#include "cli/launch_flags.hpp"

#include "cli/framework_flags.hpp"
#include "cli/machine_flags.hpp"
#include "cli/option_group.hpp"
#include "cli/plan_flags.hpp"

namespace ddlrun::cli {

using namespace launch;
using namespace topology;

namespace {

void add_shape_options(CLI::App& app, LaunchFlags& flags) {
  OptionGroup(app, "Hosts and ranks")
      .option("-H,--hosts", flags.hosts_option, "LIST",
              "same as HOSTS; h1:4,h2:4 also sets the ranks of each host")
      .option("--hostfile", flags.hostfile, "FILE",
              "read hosts from FILE, one a line; slots=N of every host is its number of ranks")
      .option("--ranks-per-host", flags.ranks_per_host, "N", "DIMS' first factor")
      .option("--hosts-per-rack", flags.hosts_per_rack, "N", "DIMS' second factor")
      .option("--racks", flags.racks, "N", "DIMS' third factor")
      .option("--aisles", flags.aisles, "N", "DIMS' fourth factor")
      .option("-n,--np", flags.framework.np, "N",
              "N ranks: fewer than slots fill the hosts in their order; without slots N is split evenly; "
              "-N: N ranks on this host")
      .option("--multi-prog", flags.program_list, "FILE",
              "a YAML list of programs for ranks or hosts, instead of -- PROGRAM");
}

void add_placement_options(CLI::App& app, LaunchFlags& flags) {
  add_plan_options(app, flags.plan);
  add_machine_options(app, flags.machine);
  OptionGroup(app, "Placement")
      .option("--rankfile", flags.rankfile, "FILE", "check and use this rankfile instead of a plan")
      .option("--threads", flags.threads, "N", "threads of each rank; default: one for each of its cores")
      .option(
          "--affinity", flags.affinity, "MODE",
          "auto: pin threads of the OpenMP runtime that the program links; off, libgomp, libomp; default: "
          "auto, for PyTorch off")
      .flag("--show-threads", flags.show_threads, "make the OpenMP runtime print its settings")
      .option(
          "--bind-to", flags.bind_to, "UNIT",
          "core: one core for each rank, as with mpirun; none: all cores that its launcher may use; default: "
          "its share of the cores")
      .option("--mem-bind", flags.mem_bind, "POLICY",
              "local (default): memory of the node that touches it first; preferred or bind: memory of the "
              "NUMA node of the rank's cores")
      .option("--visible-gpus", flags.visible_gpus, "MODE",
              "GPUs visible to a rank: all, one (its own) or host (those of its host's ranks); default: what "
              "the framework expects, else all")
      .flag("--verify", flags.verify,
            "compare each rank's real cores with the plan (default for the trainer)")
      .flag("--no-verify", flags.no_verify, "do not compare")
      .flag("--strict", flags.strict, "--verify, and exit 1 if a rank runs elsewhere than planned");
}

void add_environment_options(CLI::App& app, LaunchFlags& flags) {
  OptionGroup(app, "Environment")
      .repeatable("-x", flags.exports, "VAR[=VALUE]",
                  "export VAR, all VAR_*, or set and export VAR=VALUE; repeatable")
      .repeatable("--export-default", flags.default_exports, "VAR=VALUE",
                  "set and export VAR=VALUE unless VAR is set; not for secrets");
}

void add_launcher_options(CLI::App& app, LaunchFlags& flags) {
  OptionGroup(app, "Launcher and network")
      .option("--launcher", flags.launcher, "NAME",
              "openmpi, mpich, intelmpi, srun, or ssh (without MPI); auto (default): the kind of mpirun, or "
              "srun in a Slurm job without mpirun")
      .option("--mpirun", flags.mpirun, "PATH", "run this mpirun")
      .repeatable("--mpi-arg", flags.mpi_arguments, "ARG", "pass ARG to mpirun unchanged; repeatable")
      .repeatable("--mca", flags.mca, "NAME VALUE", "an MCA parameter for Open MPI; repeatable")
      .option(
          "--interface", flags.interface, "NET",
          "network between the hosts: a CIDR, an interface or none; default: the one that all hosts share")
      .flag("--allow-run-as-root", flags.allow_run_as_root, "let mpirun run as root");
}

void add_output_options(CLI::App& app, LaunchFlags& flags) {
  OptionGroup(app, "Output and records")
      .flag("--dry-run", flags.dry_run, "print the plan and the command as a script; run and write nothing")
      .option("--run-dir", flags.run_dir, "DIR", "keep rankfile, command, plan and result in DIR")
      .flag("--no-history", flags.no_history, "do not list this run in `ddlrun history`; needs --run-dir")
      .option("--rank-output", flags.rank_output, "MODE",
              "screen (default); prefix: the rank before each line; files: RUN/out/rank-0007.out and .err")
      .flag("--tee", flags.tee, "write each rank's output to files and show it")
      .flag("--tag-output", flags.tag_output, "let mpirun put the rank before each output line");
}

void add_failure_options(CLI::App& app, LaunchFlags& flags) {
  OptionGroup(app, "Monitoring")
      .option("--stall-timeout", flags.stall_timeout, "N",
              "report a rank that makes no progress for N seconds (60), up to a sixth earlier; 0 disables "
              "the report")
      .option("--on-stall", flags.on_stall, "ACTION",
              "warn (default), or end the job with exit status 124 if a rank is stopped, all sleep and write "
              "nothing, or a host is silent")
      .flag("--no-monitor", flags.no_monitor,
            "do not supervise ranks: no stall detection, no cleanup of processes that outlive the job")
      .flag("--no-diagnose", flags.no_diagnose, "do not explain why a job failed");
  OptionGroup(app, "Restart")
      .option("--max-restarts", flags.max_restarts, "N",
              "restart a failed job at most N times (0); never after exit status 2, 126 or 127")
      .option(
          "--on-host-failure", flags.on_host_failure, "POLICY",
          "shrink: restart without the lost hosts; wait: until they answer; auto (default): shrink unless "
          "DIMS are given")
      .option("--host-timeout", flags.host_timeout, "N", "wait at most N seconds for a lost host (600)")
      .repeatable("--restart-arg", flags.restart_arguments, "ARG",
                  "pass ARG to the program from the second start on; the trainer gets --resume by itself");
}

}  // namespace

void add_launch_options(CLI::App& app, LaunchFlags& flags) {
  app.add_option("DIMS", flags.dims,
                 "ranks per host x hosts per rack x racks [x aisles], for example 4x2x3; default: from the "
                 "GPUs or cores that the hosts have");
  app.add_option("HOSTS", flags.hosts,
                 "h1,h2 or node[01-04] or @file; default: the allocation, else this machine");
  add_shape_options(app, flags);
  add_placement_options(app, flags);
  add_environment_options(app, flags);
  add_launcher_options(app, flags);
  add_output_options(app, flags);
  add_failure_options(app, flags);
  add_framework_options(app, flags.framework);
}

}  // namespace ddlrun::cli
