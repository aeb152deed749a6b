// SPDX-License-Identifier: MIT
#include "cli/submit_job.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "cli/dry_run_notes.hpp"
#include "cli/passed_options.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/plan/job_threads.hpp"
#include "launch/plan/nested_program.hpp"
#include "launch/plan/python_syntax.hpp"
#include "launch/plan/resolve_framework.hpp"
#include "launch/plan/script_launcher.hpp"
#include "schedulers/client/job_dependencies.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/client/job_follow.hpp"
#include "schedulers/client/job_paths.hpp"
#include "schedulers/client/job_submission.hpp"
#include "schedulers/client/node_fit.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/scripts/shown_secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

namespace ddlrun::cli {

using namespace schedulers;

namespace {

// Which settings come from files: a ddlrun.yaml of this directory is read unasked.
void print_files(System& system, const JobSettings& settings) {
  std::map<std::string, std::vector<std::string>> keys;
  for (const auto& [key, setting] : settings) {
    std::string file = setting.origin.substr(0, setting.origin.find(':'));
    if (!file.ends_with(".yaml") || setting.value.line == 0) continue;
    if (setting.origin.ends_with(')')) file += ')';  // "profile centre (centre.yaml:7)"
    keys[file].push_back(key);
  }
  for (const auto& [file, names] : keys)
    system.err(fmt::format("ddlrun: from {}: {}\n", printable(file, 200), join(names, ", ")));
}

void print_remarks(System& system, const JobRequest& wanted) {
  print_files(system, wanted.settings);
  if (!wanted.site.title.empty())
    system.err(fmt::format("ddlrun: site: {}{}\n", printable(wanted.site.title),
                           wanted.site.is_builtin ? "" : ", from " + printable(wanted.site.file, 200)));
  for (const std::string& remark : wanted.parsed.remarks) system.err("ddlrun: " + remark + "\n");
}

// As with sbatch, a submission takes the values of variables from its own shell.
void print_values_of_now(System& system, const JobSpec& job) {
  std::vector<std::string> names;
  for (const std::string& entry : job.environment) {
    if (entry.find('=') != std::string::npos) continue;
    const bool is_set = is_wildcard(entry) || system.environment.variables.contains(entry);
    names.push_back(entry + (is_set ? "" : " (not set)"));
  }
  if (!names.empty())
    system.err(fmt::format("ddlrun: environment: values of this shell, perhaps not those of then: {}\n",
                           printable(join(names, ", "), 300)));
}

void print_left_out(System& system, const std::vector<std::string>& names) {
  if (names.empty()) return;
  system.err(fmt::format("ddlrun: left out, because they would override the script: {}\n",
                         printable(join(names, " "), 300)));
}

// Slurm passes this environment on to the job, PBS only what the job names.
EnvVars environment_of_job(const System& system, const JobSpec& job) {
  if (!is_pbs_like(job.scheduler)) return system.environment.variables;
  return {};
}

// The program as `launch` finds it from this directory.
Command program_from_here(const JobSpec& job) {
  Command program = job.program;
  const auto script = find_script(program);
  if (script && !program[*script].starts_with('/') &&
      (*script > 0 || program[0].find('/') != std::string::npos))
    program[*script] = job.workdir + "/" + program[*script];
  if (job.container) program.insert(program.begin(), {job.container->runtime, "exec", job.container->image});
  return program;
}

// Without `launch` the script sets the variables for threads, by the rule of `launch`.
void choose_affinity(System& system, JobRequest& wanted) {
  JobSpec& job = wanted.parsed.job;
  if (job.runner == Runner::ddlrun || job.affinity != "auto" || job.threads == 0) return;
  launch::LaunchFlags flags;
  flags.program = program_from_here(job);
  flags.framework.framework = job.framework;
  if (!launch::leaves_threads_free(system, flags)) return;
  job.affinity = "off";
  wanted.parsed.remarks.emplace_back("affinity: off, as `launch` chooses for this program's framework");
  if (job.dims.world_size() > 1)
    wanted.parsed.remarks.emplace_back(
        "warning: only --runner ddlrun sets the variables of this program's framework (RANK, MASTER_ADDR, "
        "...)");
}

// How `launch` numbers the ranks in the job, and what it sets for the threads of each. With another runner
// the script itself has these variables; with a template of the user's it is not known what the script
// starts.
void print_launch_choices(System& system, const JobSpec& job) {
  if (job.runner != Runner::ddlrun || !job.script_template.empty()) return;
  launch::LaunchFlags flags;
  flags.program = program_from_here(job);
  if (job.threads > 0) flags.threads = std::to_string(job.threads);
  if (job.affinity != "auto") flags.affinity = job.affinity;
  flags.framework.framework = job.framework;
  for (const std::string& entry : job.environment)
    if (entry.find('=') != std::string::npos) flags.exports.push_back(entry);
  const auto cores = static_cast<int>(job.cores_per_node), ranks = static_cast<int>(job.ranks_per_node());
  const bool is_crowded = cores > 0 && ranks > cores;  // by --oversubscribe, which binds no rank to a core
  if (is_crowded) flags.bind_to = "none";
  if (job.order == topology::RankOrder::packed) flags.plan.order = "packed";
  const launch::LaunchSpec spec = launch::resolve_launch_spec(system, flags);
  const auto script = find_script(flags.program);
  const bool is_unread =
      script && *script > 0 && !job.container && !system.files.exists(flags.program[*script]);
  if (is_unread && job.framework == "auto")
    system.err(fmt::format(
        "ddlrun: note: {} is not readable here: its framework is not known, and the order and threads below "
        "are guesses; --framework NAME names it\n",
        printable(flags.program[*script], 200)));
  system.err(order_note(job.dims, spec.placement.plan.order));
  launch::ExpectedRanks expected;
  expected.fewest_cores = cores > 0 ? std::max(1, cores / ranks) : static_cast<int>(job.threads);
  expected.most_cores = cores > 0 ? (cores + ranks - 1) / ranks : expected.fewest_cores;
  expected.threads_per_core = std::max(1u, job.hardware_threads_per_core);
  std::vector<std::string> words;
  if (spec.framework.framework == frameworks::Framework::intel_caffe) {
    words = {"OMP_NUM_THREADS, KMP_AFFINITY and KMP_HW_SUBSET, by the cores of the nodes"};
  } else {
    const auto threads = launch::expect_threads(system, spec, expected, environment_of_job(system, job));
    for (const std::string& variable : threads.variables)
      words.push_back(quote_shell(printable(variable, 200)));
    if (expected.fewest_cores == 0)
      words.emplace_back("OMP_NUM_THREADS, its number of cores (--cores-per-node N shows it)");
    if (job.affinity == "auto" && threads.runtime == affinity::OpenMpRuntime::unknown)
      words.emplace_back("(for any OpenMP; --affinity libomp: KMP_AFFINITY, for Intel's or LLVM's)");
  }
  if (!words.empty()) system.err(fmt::format("ddlrun: launch sets for each rank: {}\n", join(words, " ")));
}

int show_submission(System& system, const JobRequest& wanted, const schedulers::Scheduler& scheduler,
                    const PreparedJob& prepared) {
  const schedulers::JobSpec& job = wanted.parsed.job;
  system.out(prepared.script);
  print_launch_choices(system, job);
  const std::string handed_to = job.scheduler == SchedulerKind::slurm ? "sbatch" : "qsub";
  const bool is_here = job.scheduler == SchedulerKind::local;  // no paths of a cluster
  if (!is_here && find_program(system, handed_to).empty())
    system.err(foreign_paths_note(job, wanted.settings, handed_to));
  else if (!is_here && !system.files.exists(job.workdir))
    system.err(foreign_paths_note(job, wanted.settings, printable(job.workdir, 200)));
  system.err(hand_in_note(job, prepared, scheduler.name()));
  return 0;
}

// Or found below the working directory: PATH may have "." or an environment there.
bool is_named_by_path(System& system, const JobSpec& job) {
  if (job.program.empty()) return false;
  if (job.program[0].find('/') != std::string::npos) return true;
  const std::string found = find_program(system, job.program[0]);
  return !found.starts_with('/') || found.starts_with(system.environment.workdir + "/");
}

// Also those of a template, a site's directives and the user's own: the script has them all.
void warn_of_shown_secrets(System& system, const JobSpec& job, const PreparedJob& prepared) {
  if (!is_pbs_like(job.scheduler)) return;
  const auto shown = job_scripts::find_shown_secrets(prepared.script);
  if (shown) system.err(render_message("ddlrun", "warning", *shown));
}

// The script as the job's Python reads it. Of another Python, which modules or setup bring, it is only a
// warning.
int check_syntax(System& system, const JobSpec& job, bool dry_run) {
  if (job.container) return 0;
  // ddlrun.yaml may be another user's: a dry run starts no interpreter that it names by a path.
  if (dry_run && (!job.venv.empty() || is_named_by_path(system, job))) return 0;
  Command program = job.program;
  const bool in_venv = !job.venv.empty() && !program.empty() && program[0].find('/') == std::string::npos;
  if (in_venv) program[0] = job.venv + "/bin/" + program[0];
  if (in_venv && !program[0].starts_with('/')) program[0] = job.workdir + "/" + program[0];
  const auto error = launch::find_syntax_error(system, program, job.workdir);
  if (!error) return 0;
  const bool is_certain =
      job.modules.empty() && job.conda.empty() && job.setup.empty() && job.dependencies.empty();
  if (is_certain && !dry_run) {
    system.err(render_error("ddlrun", *error));
    return exit_code(ErrorKind::request);
  }
  system.err(render_message("ddlrun", "warning", *error));
  return 0;
}

// The command line as typed, without DIMS and the program.
std::string render_own_line(const JobOptions& options, bool detach) {
  Command words{"ddlrun", "submit"};
  if (options.slurm) words.emplace_back("--slurm");
  if (options.pbs) words.emplace_back("--pbs");
  if (options.torque) words.emplace_back("--torque");
  if (options.local) words.emplace_back("--local");
  if (!options.file.empty()) words.insert(words.end(), {"--job", options.file});
  for (const auto& [key, values] : options.flags) {
    if (key != "dims" && key != "program")
      for (const std::string& value : values) words.insert(words.end(), {flag_of_key(key), value});
  }
  if (!options.hosts.empty()) words.insert(words.end(), {flag_of_key("hosts"), options.hosts});
  if (detach) words.emplace_back("--detach");
  if (options.dry_run) words.emplace_back("--dry-run");
  return render_shell(words);
}

// What each rank would find out only after the wait in the queue. The status for it; 0: nothing.
int check_before_submission(System& system, const JobRequest& wanted, const JobOptions& options,
                            bool detach) {
  const bool dry_run = options.dry_run;
  const JobSpec& job = wanted.parsed.job;
  const bool starts_ranks =
      job.runner == Runner::ddlrun || (job.runner == Runner::srun && job.dims.world_size() > 1);
  if (starts_ranks) {  // before the paths: it needs no file, and a dry run may have paths of the cluster
    const std::string line = render_own_line(options, detach);
    launch::check_not_nested(job.program, job.dims.world_size(), job.nodes(),
                             {line + " " + topology::render_dims(job.dims), true, line});
    const std::string remark =
        launch::remark_on_script(system, job.program, job.workdir, job.dims.world_size(), job.nodes());
    if (!remark.empty()) system.err("ddlrun: " + remark + "\n");
  }
  const JobPathReport paths = check_job_paths(system, wanted);
  for (const std::string& warning : paths.warnings) system.err("ddlrun: warning: " + warning + "\n");
  for (const Message& error : paths.errors) {
    if (dry_run)
      system.err(fmt::format("ddlrun: warning: {}; try: {}\n", error.what, error.hint));
    else
      system.err(render_error("ddlrun", error));
  }
  if (!paths.errors.empty()) return dry_run ? 0 : exit_code(ErrorKind::request);
  if (const int status = check_syntax(system, job, dry_run); status != 0) return status;
  if (job.runner != Runner::ddlrun || job.container) return 0;
  const bool is_here = job.workdir == system.environment.workdir;
  const bool is_trainer = job.program.empty() || job.program[0].starts_with('-');
  if (is_trainer && !launch::has_trainer(system)) return 0;
  return launch::check_trainer_options(system, launch::choose_program(system, job.program, false),
                                       job.dims.world_size(), is_here && !dry_run);
}

// A program of ddlrun's own without a directory is the one beside the job's ddlrun: that directory need not
// be in the PATH of the job, which PBS takes from the start-up files of the host.
void resolve_own_program(System& system, JobRequest& wanted) {
  JobSpec& job = wanted.parsed.job;
  constexpr std::array<std::string_view, 3> own{"ddl-train", "ddl-bench", "ddlrun"};
  if (job.container || job.program.empty() || !job.ddlrun.starts_with('/')) return;
  if (std::ranges::find(own, job.program[0]) == own.end()) return;
  const std::string beside = job.ddlrun.substr(0, job.ddlrun.rfind('/') + 1) + job.program[0];
  if (!system.files.exists(beside)) return;
  job.program[0] = beside;
  wanted.parsed.remarks.push_back(
      fmt::format("program: {}, beside the job's ddlrun", printable(beside, 200)));
}

// A scheduler accepts some jobs that can never start.
void check_request(System& system, const JobRequest& wanted, const CommandRunner& ask, bool dry_run) {
  auto fault = find_request_fault(ask, wanted);
  if (!fault) return;
  if (fault->unless.empty() && !dry_run) throw Error(ErrorKind::request, fault->message);
  if (!fault->unless.empty()) fault->message.what += ", unless " + fault->unless;
  system.err(render_message("ddlrun", "warning", fault->message));
}

}  // namespace

int submit_job(System& system, const JobOptions& options, bool detach) {
  constexpr std::array<std::string_view, 2> own{"--dry-run", "--detach"};
  const auto own_option = find_own_option("ddlrun submit", own, options.program);
  if (own_option && !options.dry_run) system.err(render_message("ddlrun", "warning", *own_option));
  const CommandRunner ask = ask_once(system);  // the list of a large cluster's nodes is long
  JobRequest wanted = load_job_request(system, options, ask, check_passed_options);
  if (!wanted.parsed.errors.empty()) return print_errors(system, wanted);
  resolve_own_program(system, wanted);
  choose_affinity(system, wanted);
  const bool dry_run = options.dry_run;
  if (const int status = check_before_submission(system, wanted, options, detach); status != 0) return status;
  const auto scheduler = schedulers::make_scheduler(wanted.parsed.job.scheduler);
  name_newest(system, wanted);
  name_arrays(system, wanted);
  print_remarks(system, wanted);
  if (options.again) print_values_of_now(system, wanted.parsed.job);
  PreparedJob prepared = prepare_job(system, wanted, *scheduler, find_job_dir(system, wanted.parsed.job));
  print_left_out(system, prepared.left_out);
  check_request(system, wanted, ask, dry_run);
  warn_of_shown_secrets(system, wanted.parsed.job, prepared);
  if (dry_run) return show_submission(system, wanted, *scheduler, prepared);
  check_dependencies(system, wanted);
  const JobRef job = schedulers::submit_job(system, wanted, *scheduler, std::move(prepared));
  system.out(job.id + "\n");
  system.err(fmt::format("ddlrun: handed to {} as job {}; its files are in {}\n", scheduler->name(),
                         printable(job.id), printable(job.dir, 400)));
  if (detach) return check_new_job(system, job);
  return follow_jobs(system, {job}, {});
}

}  // namespace ddlrun::cli
