// SPDX-License-Identifier: MIT
// `ddlrun submit`: read, check, write the script, hand it in, follow it to its end.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/job_flags.hpp"
#include "schedulers/client/job_dependencies.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_follow.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_submission.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

constexpr std::string_view submit_examples =
    R"(  ddlrun submit                                  # reads ./ddlrun.yaml, for example:
    name: alexnet
    dims: 4x2x1                  # 4 ranks on each of 2 nodes
    walltime: 4h
    queue: normal
    gpus: per-rank
    modules: [openmpi/4.1.4]
    environment: [NCCL_*, DATA_ROOT=/scratch/me/mnist]
    program: python train.py --epochs 3
  ddlrun submit 4x2x1 --walltime 4h -- ./train   # 2 nodes with 4 ranks each
  ddlrun submit --slurm 4x2x1 --dry-run -- ./train > job.sh   # then type the printed mkdir, and sbatch job.sh
  ddlrun submit --pbs --site kisti-nurion --application caffe --walltime 12h 1x4x1 -- ./train
  ddlrun submit --template my-job.sh 4x2x1 --walltime 4h -- ./train   # your own script with placeholders
  ddlrun submit --detach && ddlrun jobs)";

constexpr std::string_view submit_notes =
    R"(submit prints the job's id and then its growing log to stdout, and the job's state to stderr. The exit
status is that of the job: 124 at its time limit, 143 after a cancel, 5 for a lost host. Ctrl-C leaves
the job alone.

A setting comes from an option, else from a variable such as DDLRUN_WALLTIME, else from ddlrun.yaml, else
from ~/.config/ddlrun/config.yaml, else from the site's profile. Script, settings and log lie in
ddlrun-jobs/NAME-DATE-TIME in the working directory; if its path contains a blank, in the state directory.)";

struct SubmitOptions {
  JobOptions job;
  bool detach = false;
  bool dry_run = false;
};

void print_remarks(System& system, const JobRequest& wanted) {
  if (!wanted.site.title.empty()) system.err("ddlrun: site: " + printable(wanted.site.title) + "\n");
  for (const std::string& remark : wanted.parsed.remarks) system.err("ddlrun: " + remark + "\n");
}

void print_left_out(System& system, const schedulers::Scheduler& scheduler) {
  const auto names = scheduler.overriding_variables(system.environment.variables);
  if (names.empty()) return;
  system.err(fmt::format("ddlrun: left out, because they would override the script: {}\n",
                         printable(join(names, " "), 300)));
}

int show_submission(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler) {
  const schedulers::JobSpec& job = wanted.parsed.job;
  const PreparedJob prepared = prepare_job(system, wanted, scheduler, find_job_dir(system, job));
  system.out(prepared.script);
  // Where the log goes; a scheduler does not make directories.
  system.err("ddlrun: to hand the script in by yourself, make its directory first:\n" +
             render_shell(Command{"mkdir", "-p", prepared.dir.path}) + "\n");
  system.err("+ " + render_shell(prepared.submit) + "\n");
  return 0;
}

int run_submit(System& system, const SubmitOptions& options) {
  const JobRequest wanted = load_job_request(system, options.job);
  if (!wanted.parsed.errors.empty()) return print_errors(system, wanted);
  const auto scheduler = schedulers::make_scheduler(wanted.parsed.job.scheduler);
  print_remarks(system, wanted);
  print_left_out(system, *scheduler);
  if (options.dry_run) return show_submission(system, wanted, *scheduler);
  check_dependencies(system, wanted);
  const JobRef job = submit_job(system, wanted, *scheduler);
  system.out(job.id + "\n");
  system.err(fmt::format("ddlrun: handed to {} as job {}; its files are in {}\n", scheduler->name(),
                         printable(job.id), printable(job.dir, 400)));
  if (options.detach) return 0;
  return follow_jobs(system, {job}, {});
}

}  // namespace

Subcommand submit_command() {
  Subcommand command;
  command.name = "submit";
  command.summary = "submit a job to Slurm or PBS, follow it, and explain its end";
  command.examples = submit_examples;
  command.notes = submit_notes;
  command.takes_program = true;
  command.setup = [](CLI::App& app, const std::vector<std::string>& rest) -> Run {
    auto options = std::make_shared<SubmitOptions>();
    options->job.program = rest;
    add_job_options(app, options->job);
    app.add_flag("--detach", options->detach, "return after the submission");
    app.add_flag("--dry-run", options->dry_run, "print the script; write and submit nothing");
    return [options](System& system) { return run_submit(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
