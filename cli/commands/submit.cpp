// SPDX-License-Identifier: MIT
// `ddlrun submit`: a job to a scheduler, followed to its end; `--init` writes a job file.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/job_flags.hpp"
#include "cli/submit_job.hpp"
#include "schedulers/client/job_options.hpp"
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

An option whose values are yes and no needs no value: --verify is --verify yes.

A setting comes from an option, else from a variable such as DDLRUN_WALLTIME, else from ddlrun.yaml, else
from ~/.config/ddlrun/config.yaml, else from the centre's /etc/ddlrun/config.yaml, else from the site's
profile; `ddlrun config show --origin` lists them. Script, settings and log lie in
ddlrun-jobs/NAME-DATE-TIME in the working directory; if its path contains a blank, in the state directory.)";

struct SubmitOptions {
  JobOptions job;
  bool detach = false;
  bool init = false;
};

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

// "submit job.sh", as sbatch and qsub have it.
void refuse_file_as_dims(System& system, const std::string& word) {
  if (word.find_first_of("./") == std::string::npos || !system.files.exists(word)) return;
  const std::string file = quote_shell(word);
  const bool is_job_file = word.ends_with(".yaml") || word.ends_with(".yml");
  throw Error(
      ErrorKind::usage,
      {fmt::format("{} is a file, not DIMS", printable(word, 200)), "DIMS",
       is_job_file
           ? "ddlrun submit --job " + file
           : fmt::format("ddlrun convert {} --to ddlrun.yaml > ddlrun.yaml, then ddlrun submit", file)});
}

int run_submit(System& system, const SubmitOptions& options) {
  refuse_file_as_dims(system, options.job.dims);
  if (options.init) return write_job_file(system, options.job);
  return submit_job(system, options.job, options.detach);
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
