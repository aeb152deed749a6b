// SPDX-License-Identifier: MIT
#include "launch/run/launch.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/launch_record.hpp"
#include "launch/launchers/dry_run.hpp"
#include "launch/plan/find_program.hpp"
#include "launch/plan/job_framework.hpp"
#include "launch/plan/job_network.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/job_rank_map.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/plan/job_threads.hpp"
#include "launch/plan/launch_options.hpp"
#include "launch/plan/linked_libraries.hpp"
#include "launch/plan/monitor_options.hpp"
#include "launch/plan/multi_program.hpp"
#include "launch/plan/select_launcher.hpp"
#include "launch/run/launch_restart.hpp"
#include "launch/run/launch_run.hpp"

#include <fmt/format.h>

namespace ddlrun::cli {

namespace {

using launch::Exports;
using launch::LaunchCommand;
using launch::LauncherKind;

bool wants_verify(const LaunchOptions& options, bool is_trainer) {
  if (options.verify && options.no_verify) {
    throw Error(ErrorKind::usage, {"--verify and --no-verify are both given", "", "one of the two"});
  }
  if (options.strict && options.no_verify) {
    throw Error(ErrorKind::usage, {"--strict needs what --no-verify leaves out", "", "--strict alone"});
  }
  return !options.no_verify && (options.verify || options.strict || is_trainer);
}

// Unlikely enough in anybody's output, and a new one for each run.
std::string make_token(const System& system) {
  return fmt::format("{:x}", system.clock.now().time_since_epoch().count());
}

std::string mismatch_hint(const LaunchOptions& options) {
  if (!options.mpi_arguments.empty() || !options.mca.empty()) return "the same without --mpi-arg and --mca";
  if (any_given(options.machine))
    return "the same without --topology, --synthetic, --sockets: let it read the hosts";
  return "ddlrun topo on that host; a scheduler or container may allow fewer cores there";
}

// "launch 2 ./prog": what is meant is a program, not hosts.
void check_words(System& system, const LaunchOptions& options) {
  for (const std::string& word : {options.dims, options.hosts}) {
    const bool could_be_dims = !word.empty() && word.find_first_not_of("0123456789xX") == std::string::npos;
    if (word.empty() || could_be_dims || is_this_host(system.environment, word)) continue;
    const bool is_path = word.find('/') != std::string::npos;
    if (!is_path && (!options.program.empty() || find_program(system, word).empty())) continue;
    if (word[0] == '@') continue;
    const std::string dims = word == options.dims ? "" : " " + options.dims;
    throw Error(ErrorKind::usage,
                {fmt::format("'{}' is a program; programs go behind --", printable(word, 60)), "",
                 fmt::format("ddlrun launch{} -- {}", dims, quote_shell(word))});
  }
}

struct LaunchPlan {
  ChosenLauncher launcher;
  JobPlan job;
  ChosenProgram program;
  bool verify = false;
  MonitorOptions watch;
  OutputPlan output;
  std::string token;  // "" if the ranks tell nothing
  Exports exports;
  JobNetwork network;
  frameworks::FrameworkPlan framework;
  launch::RankMap rank_map;
  bool has_result = false;  // rank 0 gets a file for its result
  std::string pmi;          // for srun
};

// Whether the launcher can start this program on these hosts.
void check_launcher(System& system, LaunchPlan& decided, const ProgramLibraries& libraries) {
  const launch::ProgramMpi mpi = find_program_mpi(libraries);
  launch::check_program_mpi(mpi, decided.launcher.version.kind);
  if (decided.launcher.version.kind != LauncherKind::srun) return;
  check_srun_hosts(system, decided.job.hosts);
  decided.pmi = choose_srun_pmi(system, decided.launcher, mpi, decided.job);
}

// ssh starts ranks that no MPI knows of.
void check_without_mpi(const LaunchOptions& options, bool is_trainer) {
  if (is_trainer) {
    throw Error(ErrorKind::request,
                {"the bundled trainer is started by MPI, and these ranks are started without",
                 "--launcher ssh, or no mpirun here",
                 "--launcher openmpi (apt-get install openmpi-bin); or by hand with DDL_RANK, DDL_SIZE, "
                 "DDL_MASTER and DDL_TOKEN_FILE"});
  }
  if (!options.framework.needs_mpi) return;
  const bool horovod = options.framework.chosen == frameworks::Framework::horovod;
  throw Error(ErrorKind::request,
              {fmt::format("{} needs MPI, and these ranks are started without: each would be rank 0 of 1",
                           horovod ? "Horovod" : "mpi4py"),
               "--launcher ssh, or no mpirun here",
               fmt::format("--launcher openmpi (apt-get install openmpi-bin){}",
                           horovod ? "" : "; --framework none starts them all the same")});
}

std::string result_path(const System& system, const std::string& folder) {
  return system.environment.absolute(folder) + "/result";
}

// As HorovodRunner's run() returns what rank 0 returns. What a rank of another host writes is not fetched.
bool takes_result(System& system, const LaunchOptions& options, LaunchPlan& decided) {
  if (!options.framework.wants_result) return false;
  const auto first = launch::find_rank(decided.rank_map, 0);
  if (first && is_this_host(system.environment, first->host)) return true;
  decided.job.remarks.push_back(
      fmt::format("rank 0 gets no DDLRUN_RESULT: it is on {}, not on this host; a file that both see does it",
                  first ? first->host : "no host"));
  return false;
}

LaunchPlan plan_launch(System& system, const LaunchOptions& options) {
  check_words(system, options);
  LaunchPlan decided;
  decided.launcher = select_launcher(system, options);
  const LauncherKind kind = decided.launcher.version.kind;
  decided.job = plan_job_ranks(system, options, rankfile_major(decided.launcher.version));
  if (!decided.launcher.remark.empty()) decided.job.remarks.push_back(decided.launcher.remark);
  const JobPlan& job = decided.job;
  // The line names the list; each rank's sheet names its program.
  decided.program = options.programs.empty()
                        ? choose_program(system, options.program, job.on_this_host(system.environment))
                        : ChosenProgram{{options.programs}, false};
  if (kind == LauncherKind::ssh) check_without_mpi(options, decided.program.is_trainer);
  decided.verify = wants_verify(options, decided.program.is_trainer);
  decided.watch = plan_monitor(options);
  decided.output = plan_output(options, decided.watch);
  if (decided.verify || decided.watch.tells) decided.token = make_token(system);
  const ProgramLibraries libraries = read_program_libraries(system, decided.program.command);
  const bool by_mpi4py =
      options.framework.needs_mpi && options.framework.chosen == frameworks::Framework::none;
  check_launcher(system, decided,
                 by_mpi4py ? read_mpi4py_libraries(system, decided.program.command) : libraries);
  const affinity::ThreadRequest threads =
      plan_rank_threads(options, kind, decided.job, decided.program.command, libraries);
  const bool others = !job.all_on_this_host(system.environment) || kind == LauncherKind::srun;
  decided.exports = launch::plan_exports(
      {options.exports, job.fewest_cores(), job.most_cores(), threads, others, options.default_exports},
      system.environment.variables);
  add_restart_number(options, decided.exports);
  for (const std::string& remark : decided.exports.remarks) decided.job.remarks.push_back(remark);
  decided.network = choose_launch_network(system, options, job);
  add_network(decided.network, decided.exports);
  if (!decided.network.remark.empty()) decided.job.remarks.push_back(decided.network.remark);
  decided.rank_map = job_rank_map(job);
  decided.framework = plan_launch_framework(system, options, job, decided.rank_map, decided.exports,
                                            decided.program.command, decided.network);
  add_framework(decided.framework, decided.exports, decided.job);
  complete_rank_map(options, decided.exports, kind, decided.framework, decided.rank_map, decided.job);
  assign_programs(system, options, decided.rank_map);
  decided.has_result = takes_result(system, options, decided);
  return decided;
}

// `tells` false: nobody would take the keepers' lines out of stderr.
LaunchCommand make_command(const System& system, const LaunchOptions& options, const LaunchPlan& decided,
                           const std::string& folder, bool tells = true) {
  launch::LaunchRequest request;
  request.kind = decided.launcher.version.kind;
  request.mpirun = decided.launcher.program;
  request.mpi_major = decided.launcher.version.major;
  request.minor = decided.launcher.version.minor;
  request.ranks = static_cast<std::uint32_t>(decided.job.ranks.size());
  request.rankfile = folder + "/rankfile";
  request.folder = folder;
  request.working_folder = system.environment.working_folder;
  request.pmi = decided.pmi;
  launch::RankMap rank_map = decided.rank_map;
  if (decided.has_result) rank_map.result = result_path(system, folder);
  if (request.kind != LauncherKind::open_mpi || rank_map.has_content())
    request.rank_map = std::move(rank_map);
  request.exports = decided.exports;
  request.mca = options.mca;
  request.chosen_mca = mca_settings(decided.network);
  request.mpi_arguments = options.mpi_arguments;
  request.tag_output = options.tag_output;
  request.allow_run_as_root = options.allow_run_as_root;
  const bool others = !decided.job.all_on_this_host(system.environment);
  request.keepalives = others;
  request.program = {decided.program.command,
                     system.environment.executable,
                     decided.verify ? decided.token : "",
                     decided.watch.keep,
                     decided.watch.tells && tells ? decided.token : "",
                     decided.watch.stall_after,
                     decided.output.marked && tells ? decided.token : "",
                     others};
  LaunchCommand line = launch::plan_launch_command(request, system.environment.variables);
  add_rank_reasons(decided.framework, line);
  return line;
}

// What the script of a dry run leaves out.
std::vector<std::string> told_by_launch_alone(const LaunchOptions& options, const OutputPlan& output) {
  std::vector<std::string> remarks;
  const std::string asked = options.output == "screen" ? "--tee" : "--rank-output " + options.output;
  if (output.marked)
    remarks.push_back(asked + " is done by launch itself: this script leaves the ranks' output as it comes");
  if (options.max_restarts != "0")
    remarks.push_back("--max-restarts is done by launch itself: this script starts once");
  return remarks;
}

int show_launch(System& system, const LaunchOptions& options, const LaunchPlan& decided) {
  const std::string folder = choose_run_folder(system, options.run_folder, false);
  const bool takes_rankfile = decided.launcher.version.kind == LauncherKind::open_mpi;
  std::vector<std::string> remarks = decided.job.remarks;
  for (std::string& remark : told_by_launch_alone(options, decided.output))
    remarks.push_back(std::move(remark));
  system.out(
      launch::render_dry_run({folder + "/rankfile", takes_rankfile ? decided.job.rankfile_text : "", remarks,
                              decided.exports, make_command(system, options, decided, folder, false)}));
  return 0;
}

launch::RunRecord make_record(System& system, const LaunchOptions& options, const LaunchPlan& decided,
                              const std::string& folder) {
  launch::RunRecord record;
  record.id = base_name(folder);
  record.ddlrun_version = DDLRUN_VERSION;
  record.mpirun = decided.launcher.program;
  record.mpirun_version = decided.launcher.version.text;
  record.launcher = launch::name_of(decided.launcher.version.kind);
  record.kernel = read_if_there(system, "/proc/sys/kernel/osrelease");
  record.host = system.environment.host_name;
  record.working_folder = system.environment.working_folder;
  if (decided.job.plan) record.dims = topology::render_dims(decided.job.plan->dims);
  record.program = decided.program.command;
  record.exported = decided.exports.names;
  add_launch_facts(system, options, decided.job, decided.exports, decided.network, record);
  record.start = system.clock.now();
  return record;
}

void tell(System& system, const LaunchPlan& decided, const LaunchCommand& line, const std::string& folder) {
  for (const std::string& remark : decided.job.remarks) system.err("ddlrun: " + remark + "\n");
  for (const launch::Reason& reason : decided.exports.reasons) {
    if (reason.subject == "-x OMP_NUM_THREADS") system.err("ddlrun: OMP_NUM_THREADS=" + reason.why + "\n");
  }
  for (const auto& [name, value] : decided.exports.set_by_user) {
    system.err("ddlrun: " + name + " is set from -x; its value is not shown below\n");
  }
  system.err("ddlrun: run folder " + folder + "\n");
  system.err("+ " + launch::render_launch_command(line, decided.exports) + "\n");
}

// ssh's own head ends them itself.
std::set<std::uint32_t> serving_ranks(const LaunchPlan& decided) {
  std::set<std::uint32_t> serving;
  if (decided.launcher.version.kind == LauncherKind::ssh) return serving;
  for (const launch::RankGroup& group : decided.rank_map.groups) {
    for (std::uint32_t i = 0; group.serves && i < group.ranks; ++i) serving.insert(group.first + i);
  }
  return serving;
}

AttemptResult run_launch_attempt(System& system, const LaunchOptions& typed) {
  const LaunchOptions options = resolve_framework(system, typed);
  const LaunchPlan decided = plan_launch(system, options);
  AttemptResult done;
  done.hosts = decided.job.hosts;
  if (decided.job.plan) done.dims = decided.job.plan->dims;
  done.is_trainer = decided.program.is_trainer;
  const bool files_count = decided.job.on_this_host(system.environment) && options.mpi_arguments.empty();
  const int refused = check_trainer_options(system, decided.program, decided.job.ranks.size(), files_count);
  if (refused != 0) return done.with_status(refused);
  if (options.dry_run) return done.with_status(show_launch(system, options, decided));
  if (decided.launcher.version.kind == LauncherKind::open_mpi)
    check_not_root(system.environment, options.allow_run_as_root);
  // What the launcher refuses leaves no folder behind.
  make_command(system, options, decided, choose_run_folder(system, options.run_folder, false));
  done.folder = choose_run_folder(system, options.run_folder, true);
  const LaunchCommand line = make_command(system, options, decided, done.folder);
  tell(system, decided, line, done.folder);
  done.end = run_launch(
      system, {decided.job, decided.launcher.version.kind, line, decided.exports,
               make_record(system, options, decided, done.folder), done.folder, decided.token, decided.verify,
               decided.watch.tells, decided.watch.end_on_stall, !options.no_diagnose, options.strict,
               decided.output, serving_ranks(decided), mismatch_hint(options),
               decided.has_result ? result_path(system, done.folder) : ""});
  return done;
}

}  // namespace

int run_launch_command(System& system, const LaunchOptions& options) {
  return run_with_restarts(system, options, run_launch_attempt);
}

}  // namespace ddlrun::cli
