// SPDX-License-Identifier: MIT
#include "launch/plan/launch_plan.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/launch_command.hpp"
#include "launch/plan/job_framework.hpp"
#include "launch/plan/job_rank_map.hpp"
#include "launch/plan/job_threads.hpp"
#include "launch/plan/linked_libraries.hpp"
#include "launch/plan/multi_program.hpp"
#include "launch/plan/nested_program.hpp"
#include "launch/plan/output_words.hpp"
#include "launch/plan/own_affinity.hpp"
#include "launch/plan/plan_job_ranks.hpp"
#include "launch/plan/python_syntax.hpp"
#include "launch/plan/script_launcher.hpp"
#include "launch/plan/select_launcher.hpp"
#include "launch/plan/shell_environment.hpp"
#include "launch/plan/slurm_slots.hpp"
#include "launch/rank/shell_variables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_remark(std::vector<std::string>& remarks, const std::string& remark) {
  if (!remark.empty()) remarks.push_back(remark);
}

// Differs from run to run and is unlikely in a program's output.
std::string make_token(const System& system) {
  return fmt::format("{:x}", system.clock.now().time_since_epoch().count());
}

PlacedRanks place_ranks(System& system, const LaunchSpec& spec) {
  PlacedRanks placed;
  placed.launcher = select_launcher(system, spec.launcher, spec.dry_run);
  placed.job =
      plan_job_ranks(system, spec, rankfile_major(placed.launcher.version),
                     find_host_path(placed.kind(), spec.launcher.words, system.environment.variables));
  placed.has_step = !placed.job.machines.lacks_step && placed.job.path == topology::HostPath::automatic &&
                    topology::has_slurm_path(system, placed.job.hosts);
  if (placed.kind() == LauncherKind::open_mpi)
    check_slurm_slots(system, spec, placed.job);
  else
    append_remark(placed.job.remarks, topology::remark_on_numbers(spec.placement.machine));
  // srun gives each rank a mask of the job, whatever this shell has. The mask of this shell does not limit a
  // described machine.
  const bool binds_here = spec.placement.binds && placed.kind() != LauncherKind::srun &&
                          !topology::any_given(spec.placement.machine);
  if (binds_here) append_remark(placed.job.remarks, remark_on_own_affinity(system, placed.job.ranks));
  return placed;
}

// Without MPI the ranks of libddl connect over TCP, and each proves that it has the user's token.
void require_libddl_token(const System& system, const LaunchSpec& spec, bool has_mpirun) {
  const bool is_set = std::ranges::any_of(frameworks::libddl_token_variables, [&](std::string_view name) {
    const auto own = system.environment.variables.find(std::string(name));
    return (own != system.environment.variables.end() && !own->second.empty()) ||
           std::ranges::any_of(spec.exports, [&](const std::string& word) {
             return word.starts_with(std::string(name) + "=");
           });
  });
  if (is_set) return;
  throw Error(
      ErrorKind::request,
      {"ranks of libddl, such as the bundled trainer's, need a token: --launcher ssh starts them without "
       "MPI, and they connect over TCP",
       place_of_ssh(has_mpirun),
       "head -c 32 /dev/urandom | base64 > token; chmod 600 token; then launch with -x "
       "DDL_TOKEN_FILE=$PWD/token, the same file on all hosts; or " +
           mpi_launcher_hint(ProgramMpi::open_mpi, has_mpirun)});
}

// Ranks started over ssh cannot use MPI.
void check_without_mpi(const FrameworkSpec& framework, bool has_mpirun) {
  if (!framework.needs_mpi) return;
  const bool horovod = framework.framework == frameworks::Framework::horovod;
  throw Error(
      ErrorKind::request,
      {fmt::format("{} needs MPI, and --launcher ssh starts ranks without MPI: each would be rank 0 of 1",
                   horovod ? "Horovod" : "mpi4py"),
       place_of_ssh(has_mpirun),
       mpi_launcher_hint(ProgramMpi::open_mpi, has_mpirun) +
           (horovod ? "" : "; --framework none starts them without this check")});
}

// Checks that the launcher can start this program on these hosts; srun's --mpi for it.
std::string check_launcher(System& system, const LaunchSpec& spec, const PlacedRanks& placed,
                           const ProgramLibraries& libraries, bool has_mpirun,
                           std::vector<std::string>& remarks) {
  const ProgramMpi mpi = find_program_mpi(libraries);
  check_program_mpi(mpi, placed.kind(), has_mpirun);
  const bool has_libddl = libraries.has_libddl || spec.framework.framework == frameworks::Framework::ddl;
  if (has_libddl && placed.kind() == LauncherKind::ssh) require_libddl_token(system, spec, has_mpirun);
  if (placed.kind() != LauncherKind::srun) return {};
  check_srun_hosts(system, placed.job.hosts);
  return choose_srun_pmi(system, placed.launcher, mpi, remarks);
}

std::string launch_line(const LaunchSpec& spec) {
  std::string line = "ddlrun launch";
  for (const std::string& word : spec.origin.captured_arguments) line += " " + quote_shell(word);
  return line;
}

ProgramPlan plan_program(System& system, const LaunchSpec& spec, const PlacedRanks& placed) {
  ProgramPlan plan;
  const bool runs_here = placed.job.on_this_host(system.environment);
  // With a list, the command line names the list and each rank's map its program.
  plan.program = spec.program_list.empty() ? choose_program(system, spec.program, runs_here)
                                           : ChosenProgram{{spec.program_list}, false};
  if (!runs_here) check_shared_program(system, spec.program);
  // A dry run starts nothing of the user's, and so no Python.
  if (const auto error =
          spec.dry_run ? std::nullopt : find_syntax_error(system, spec.program, system.environment.workdir)) {
    if (runs_here) throw Error(ErrorKind::request, *error);
    plan.remarks.push_back(
        fmt::format("{} ({}); the hosts may have another Python", error->what, error->where));
  }
  const bool is_ssh = placed.kind() == LauncherKind::ssh;
  const bool has_mpirun = is_ssh && !find_program(system, spec.launcher.mpirun).empty();
  if (is_ssh) check_without_mpi(spec.framework, has_mpirun);
  check_not_nested(plan.program.command, placed.job.ranks.size(), placed.job.hosts.size(),
                   {launch_line(spec), spec.shape.says_count(), "ddlrun launch"});
  append_remark(plan.remarks, remark_on_script(system, plan.program.command, system.environment.workdir,
                                               placed.job.ranks.size(), placed.job.hosts.size()));
  if (plan.program.is_trainer && spec.program.empty())
    plan.remarks.emplace_back("no program given: the bundled trainer, ddl-train; your own goes after --");
  plan.verify = spec.verify.value_or(plan.program.is_trainer);
  plan.has_status =
      spec.monitor.supervise && !redirects_stderr(placed.kind(), spec.launcher.words.mpi_arguments);
  check_frames_arrive(spec.output, placed.kind(), spec.launcher.words.mpi_arguments);
  if (plan.verify || plan.has_status) plan.token = make_token(system);
  plan.frames_stderr = plan.has_status && spec.monitor.diagnose && !spec.output.is_framed() && !is_ssh &&
                       !shapes_output(placed.kind(), spec.launcher.words, system.environment.variables);
  const ProgramLibraries libraries = read_program_libraries(system, plan.program.command);
  const bool by_mpi4py =
      !spec.dry_run && spec.framework.needs_mpi && spec.framework.framework == frameworks::Framework::none;
  plan.pmi = check_launcher(system, spec, placed,
                            by_mpi4py ? read_mpi4py_libraries(system, plan.program.command) : libraries,
                            has_mpirun, plan.remarks);
  plan.threads =
      plan_rank_threads(spec, placed.kind(), placed.job, plan.program.command, libraries, plan.remarks);
  return plan;
}

// Ranks find the number of starts before theirs in DDLRUN_RESTART, from the second start on.
void add_restart_number(const RestartSpec& restart, Exports& exports) {
  if (restart.number == 0) return;
  const std::string name = "DDLRUN_RESTART";
  exports.set_by_user.erase(name);
  exports.set_by_us[name] = fmt::format("{}", restart.number);
  add_export(exports, name, fmt::format("{}: number of starts before this one", restart.number));
}

// launch ends service ranks itself, but for --launcher ssh, whose launcher does.
std::set<std::uint32_t> find_service_ranks(const PlacedRanks& placed, const RankMap& rank_map) {
  std::set<std::uint32_t> ranks;
  if (placed.kind() == LauncherKind::ssh) return ranks;
  for (const RankGroup& group : rank_map.groups) {
    for (std::uint32_t i = 0; group.is_service && i < group.ranks; ++i) ranks.insert(group.first + i);
  }
  return ranks;
}

// As HorovodRunner's run() returns the result of rank 0. A result on another host is not fetched.
bool takes_result(System& system, const LaunchSpec& spec, EnvironmentPlan& plan) {
  if (!spec.framework.wants_result) return false;
  const auto first = find_rank(plan.rank_map, 0);
  if (first && topology::is_this_host(system.environment, first->host)) return true;
  plan.remarks.push_back(fmt::format(
      "rank 0 gets no DDLRUN_RESULT: it is on {}, not on this host; write to a file that both hosts "
      "share",
      first ? first->host : "no host"));
  return false;
}

// In a Slurm job Open MPI and hydra start their daemons by srun, which hands the environment on.
std::string remark_on_unpassed(System& system, const LaunchSpec& spec, const PlacedRanks& placed,
                               const Exports& exports) {
  const bool is_ssh = placed.kind() == LauncherKind::ssh;
  if (!is_ssh && !system.environment.get("SLURM_JOB_ID").empty()) return {};
  const auto names =
      find_unpassed(system.environment.variables, read_shell_start(system), exports.names,
                    is_ssh ? EnvironmentPassing::selected : EnvironmentPassing::exported_names);
  const bool has_ranks_here = placed.job.on_this_host(system.environment);
  if (!names.empty()) return render_unpassed(names, has_ranks_here ? system.environment.host_name : "");
  // A job may begin with all variables of the shell that submitted it: they are no news of this shell.
  const bool is_unsure = !is_ssh && spec.exports.empty() && in_scheduler_job(system.environment);
  return is_unsure ? "variables of this shell reach ranks on other hosts only by -x NAME" : "";
}

EnvironmentPlan plan_environment(System& system, const LaunchSpec& spec, const PlacedRanks& placed,
                                 const ProgramPlan& program) {
  const JobPlan& job = placed.job;
  EnvironmentPlan plan;
  const bool others =
      !job.all_on_this_host(system.environment) && placed.kind() != LauncherKind::srun;  // srun exports all
  plan.exports = plan_exports(
      {spec.exports, job.fewest_cores(), job.most_cores(), program.threads, others, spec.default_exports,
       placed.kind() == LauncherKind::srun, placed.kind() == LauncherKind::ssh},
      system.environment.variables);
  add_restart_number(spec.restart, plan.exports);
  append(plan.remarks, plan.exports.remarks);
  plan.network = choose_launch_network(system, spec, job);
  add_network(plan.network, plan.exports);
  append_remark(plan.remarks, plan.network.remark);
  plan.rank_map = job_rank_map(job);
  plan.framework = plan_launch_framework(system, spec, job, plan.rank_map, plan.exports,
                                         program.program.command, plan.network, placed.kind());
  add_framework(plan.framework, plan.exports);
  append(plan.remarks, plan.framework.remarks);
  if (others) append_remark(plan.remarks, remark_on_unpassed(system, spec, placed, plan.exports));
  complete_rank_map(spec.placement, plan.exports, placed.kind(), plan.framework, plan.rank_map, plan.remarks);
  assign_programs(system, spec, plan.rank_map);
  plan.has_result = takes_result(system, spec, plan);
  plan.service_ranks = find_service_ranks(placed, plan.rank_map);
  return plan;
}

}  // namespace

std::vector<std::string> LaunchPlan::remarks() const {
  std::vector<std::string> all = placed.job.remarks;
  append_remark(all, placed.launcher.remark);
  append(all, program.remarks);
  append(all, environment.remarks);
  return all;
}

LaunchPlan plan_launch(System& system, const LaunchSpec& spec) {
  LaunchPlan plan;
  plan.placed = place_ranks(system, spec);
  plan.program = plan_program(system, spec, plan.placed);
  plan.environment = plan_environment(system, spec, plan.placed, plan.program);
  return plan;
}

namespace {

std::vector<std::pair<std::string, std::uint32_t>> count_ranks_of_hosts(
    const std::vector<PlannedRank>& ranks) {
  std::vector<std::pair<std::string, std::uint32_t>> hosts;
  for (const PlannedRank& rank : ranks) {
    const auto found = std::ranges::find(hosts, rank.host, &std::pair<std::string, std::uint32_t>::first);
    if (found == hosts.end())
      hosts.emplace_back(rank.host, 1);
    else
      ++found->second;
  }
  return hosts;
}

}  // namespace

LaunchCommand make_launch_command(const System& system, const LaunchSpec& spec, const LaunchPlan& plan,
                                  const std::string& run_dir, bool for_script) {
  LaunchRequest request;
  request.launcher = plan.placed.launcher;
  request.words = spec.launcher.words;
  request.ranks = static_cast<std::uint32_t>(plan.placed.job.ranks.size());
  request.run_dir = run_dir;
  request.rankfile = run_dir + "/rankfile";
  request.workdir = system.environment.workdir;
  request.pmi = plan.program.pmi;
  request.exports = plan.environment.exports;
  request.chosen_mca = mca_settings(plan.environment.network);
  RankMap rank_map = plan.environment.rank_map;
  rank_map.result = result_path(system, plan, run_dir);
  const bool others = !plan.placed.job.all_on_this_host(system.environment);
  request.enters_workdir = (others || plan.placed.kind() == LauncherKind::srun) && !request.workdir.empty() &&
                           !names_workdir(request.words);
  if (request.enters_workdir && plan.placed.kind() != LauncherKind::open_mpi && rank_map.workdir.empty())
    rank_map.workdir = request.workdir;
  const bool needs_rank_map = plan.placed.kind() != LauncherKind::open_mpi || rank_map.has_content();
  // Without either, Open MPI starts the program itself, on hosts without ddlrun too.
  if (needs_rank_map || spec.monitor.supervise || plan.program.verify) request.rank_map = std::move(rank_map);
  request.keepalives = others;
  request.has_step = plan.placed.has_step;
  request.shares_cores = spec.placement.plan.oversubscribe;
  if (others) request.ranks_of_hosts = count_ranks_of_hosts(plan.placed.job.ranks);
  const std::string& token = plan.program.token;
  request.program = {plan.program.program.command,
                     system.environment.executable,
                     plan.program.verify ? token : "",
                     spec.monitor.supervise,
                     plan.program.has_status && !for_script ? token : "",
                     spec.monitor.stall_timeout,
                     spec.output.is_framed() && !for_script ? token : "",
                     others,
                     others && system.environment.executable_is_shared};
  request.program.needs_rank_map = needs_rank_map;
  if (plan.program.frames_stderr && !for_script) request.program.stderr_token = token;
  LaunchCommand command = plan_launch_command(request, system.environment.variables);
  add_rank_reasons(plan.environment.framework, command);
  return command;
}

std::string result_path(const System& system, const LaunchPlan& plan, const std::string& run_dir) {
  if (!plan.environment.has_result) return {};
  return system.environment.absolute(run_dir) + "/result";
}

}  // namespace ddlrun::launch
