// SPDX-License-Identifier: MIT
// `ddlrun submit`: read, check, write the script, hand it in, follow it to its end.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/job_flags.hpp"
#include "launch/plan/find_program.hpp"
#include "launch/plan/nested_program.hpp"
#include "schedulers/client/job_dependencies.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_follow.hpp"
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/job_paths.hpp"
#include "schedulers/client/job_submission.hpp"
#include "schedulers/job/job_settings_text.hpp"

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
  ddlrun submit --init                           # writes such a file with all keys, to edit
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
  bool init = false;
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

// A ddlrun.yaml with the settings of the command line, or with examples of the three that each job needs.
int write_job_file(System& system, const JobOptions& options) {
  const std::string file = options.file.empty() ? "ddlrun.yaml" : options.file;
  if (system.files.exists(file))
    throw Error(ErrorKind::request, {fmt::format("{} exists", printable(file, 200)), "--init",
                                     "--job OTHER.yaml, or remove it first"});
  const std::string origin = "an example";
  JobSettings settings = merge_settings(settings_of_flags(options),
                                        {{"walltime", flag_setting("walltime", "4h", origin)},
                                         {"program", list_setting({"python3", "train.py"}, origin)}});
  if (!settings.contains("nodes")) settings.emplace("dims", flag_setting("dims", "4x2x1", origin));
  system.files.write(file, render_commented_job_file(settings));
  system.err(fmt::format("ddlrun: wrote {}: edit dims, walltime and program; then ddlrun submit --dry-run\n",
                         printable(file, 200)));
  return 0;
}

// What each rank would find out only after the wait in the queue. The status for it; 0: nothing.
int check_before_submission(System& system, const JobRequest& wanted, bool dry_run) {
  const JobSpec& job = wanted.parsed.job;
  const JobPathReport paths = check_job_paths(system, wanted);
  for (const std::string& warning : paths.warnings) system.err("ddlrun: warning: " + warning + "\n");
  for (const Message& error : paths.errors) {
    if (dry_run)
      system.err(fmt::format("ddlrun: warning: {}; try: {}\n", error.what, error.hint));
    else
      system.err(render_error("ddlrun", error));
  }
  if (!paths.errors.empty()) return dry_run ? 0 : exit_code(ErrorKind::request);
  if (job.runner != Runner::ddlrun || job.container) return 0;
  launch::check_not_nested(job.program, job.dims.world_size(), job.nodes(),
                           "ddlrun submit " + topology::render_dims(job.dims));
  const bool is_here = job.workdir == system.environment.workdir;
  const bool is_trainer = job.program.empty() || job.program[0].starts_with('-');
  if (!is_trainer || !launch::has_trainer(system)) return 0;
  return launch::check_trainer_options(system, launch::choose_program(system, job.program, false),
                                       job.dims.world_size(), is_here && !dry_run);
}

int run_submit(System& system, const SubmitOptions& options) {
  if (options.init) return write_job_file(system, options.job);
  const JobRequest wanted = load_job_request(system, options.job);
  if (!wanted.parsed.errors.empty()) return print_errors(system, wanted);
  const bool dry_run = options.job.dry_run;
  if (const int status = check_before_submission(system, wanted, dry_run); status != 0) return status;
  const auto scheduler = schedulers::make_scheduler(wanted.parsed.job.scheduler);
  print_remarks(system, wanted);
  print_left_out(system, *scheduler);
  if (dry_run) return show_submission(system, wanted, *scheduler);
  check_dependencies(system, wanted);
  const JobRef job = submit_job(system, wanted, *scheduler);
  system.out(job.id + "\n");
  system.err(fmt::format("ddlrun: handed to {} as job {}; its files are in {}\n", scheduler->name(),
                         printable(job.id), printable(job.dir, 400)));
  if (options.detach) return check_new_job(system, job);
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
    app.add_flag("--detach", options->detach, "return once the job is in the queue");
    app.add_flag("--dry-run", options->job.dry_run, "print the script; write and submit nothing");
    app.add_flag("--init", options->init, "write a ddlrun.yaml to edit: all keys, with comments");
    return [options](System& system) { return run_submit(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
