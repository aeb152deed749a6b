// SPDX-License-Identifier: MIT
#include "launch/run/launch.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/history/launch_record.hpp"
#include "launch/history/run_store.hpp"
#include "launch/launchers/dry_run.hpp"
#include "launch/launchers/launch_command.hpp"
#include "launch/monitor/rank_files.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/plan/launch_plan.hpp"
#include "launch/run/launch_restart.hpp"
#include "launch/run/run_directory.hpp"
#include "launch/run/run_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

// What launch does itself and the script of a dry run cannot do.
std::vector<std::string> omitted_from_script(const LaunchSpec& spec) {
  std::vector<std::string> remarks;
  if (spec.output.is_framed()) {
    remarks.push_back(render_output_flag(spec.output) +
                      " is done by launch itself: this script leaves the ranks' output as it comes");
  }
  if (spec.restart.policy.most > 0)
    remarks.push_back("--max-restarts is done by launch itself: this script starts once");
  return remarks;
}

void print_dry_run(System& system, const LaunchSpec& spec, const LaunchPlan& plan) {
  const std::string run_dir = choose_run_dir(system, spec.run_dir, false);
  const bool takes_rankfile = plan.placed.kind() == LauncherKind::open_mpi;
  std::vector<std::string> remarks = plan.remarks();
  for (std::string& remark : omitted_from_script(spec)) remarks.push_back(std::move(remark));
  system.out(
      render_dry_run({run_dir + "/rankfile", takes_rankfile ? plan.placed.job.rankfile_text : "", remarks,
                      plan.environment.exports, make_launch_command(system, spec, plan, run_dir, true)}));
}

// "; rank order: ..." where several hosts have several ranks. A rankfile of the user's has an order of its
// own.
std::string render_order(const JobPlan& job, const FrameworkSpec& framework) {
  switch (host_order(job.ranks)) {
    case HostOrder::one_each:
      return "";
    case HostOrder::round_robin:
      return std::string("; rank order: round robin over hosts") +
             (job.plan ? " (--order packed: host by host)" : "");
    case HostOrder::host_by_host:
      return fmt::format(
          "; rank order: host by host{}{}",
          framework.order_remark.empty() ? "" : fmt::format(", as {} assumes", name_of(framework.framework)),
          job.plan ? " (--order ddl: round robin over hosts)" : "");
    case HostOrder::other:
      return "; rank order: as listed in the rankfile";
  }
  return "";
}

// A line for each remark; one for all choices in which nothing is wrong.
std::vector<std::string> render_choices(const LaunchSpec& spec, const LaunchPlan& plan) {
  const Exports& exports = plan.environment.exports;
  std::vector<std::string> lines, settled;
  for (const std::string& remark : plan.remarks()) {
    if (remark == spec.framework.order_remark) continue;  // the last line has it
    const bool is_settled = remark == spec.framework.detection || remark == plan.environment.network.remark;
    (is_settled ? settled : lines).push_back(remark);
  }
  constexpr std::string_view threads = "OMP_NUM_THREADS";
  for (const Reason& reason : exports.reasons)
    if (reason.subject == fmt::format("-x {}", threads))
      (exports.chooses_threads ? settled : lines).push_back(fmt::format("{}={}", threads, reason.why));
  std::vector<std::string> names;
  for (const auto& [name, value] : exports.set_by_user)
    if (name != threads) names.push_back(name);
  if (!names.empty())
    lines.push_back(fmt::format("{} {} set from -x", join(names, ", "), names.size() == 1 ? "is" : "are"));
  if (!settled.empty()) lines.push_back(join(settled, "; "));
  return lines;
}

// The run as `ddlrun logs` takes it. A log of a job is read later, when another run is the last. The id of a
// job without a scheduler is not known in it.
std::string word_for_logs(const Environment& environment) {
  const bool has_scheduler =
      !environment.get("PBS_JOBID").empty() || !environment.get("SLURM_JOB_ID").empty();
  const std::string job = has_scheduler ? environment.get("DDLRUN_JOB_ID") : "";
  return job.empty() ? "last" : quote_shell(job);
}

std::string render_start(const Environment& environment, const LaunchSpec& spec, const LaunchPlan& plan,
                         const std::string& run_dir) {
  std::string text;
  for (const std::string& line : render_choices(spec, plan)) text += "ddlrun: " + line + "\n";
  text += "ddlrun: run directory " + run_dir + "\n";
  if (spec.output.writes_files())
    text += fmt::format("ddlrun: output of the ranks: {}   # ddlrun logs -f {}\n",
                        rank_file_directory(run_dir), word_for_logs(environment));
  const PlacedRanks& placed = plan.placed;
  const std::size_t ranks = placed.job.ranks.size();
  return text + fmt::format(
                    "ddlrun: {} rank{} on {}, started by {}; its command is in argv of the run directory{}\n",
                    ranks, ranks == 1 ? "" : "s", printable(fold_host_list(placed.job.hosts), 200),
                    title_of(placed.kind()), render_order(placed.job, spec.framework));
}

// The bundled trainer writes its metrics where `report` finds them, unless it is given another file. Its
// first rank writes them, so it must be on this host.
void add_metrics(const Environment& environment, const JobPlan& job, const std::string& run_dir,
                 ChosenProgram& program) {
  if (!program.is_trainer || job.ranks.empty()) return;
  const std::vector<std::string>& own = environment.own_names;
  const bool first_is_here = std::ranges::find(own, job.ranks.front().host) != own.end();
  const bool given = std::ranges::any_of(program.command, [](const std::string& word) {
    return word == "--metrics" || word.starts_with("--metrics=") || word == "--help" || word == "-h" ||
           word == "--version" || word == "--print-net";
  });
  if (first_is_here && !given)
    program.command.insert(program.command.end(),
                           {"--metrics", environment.absolute(run_dir) + "/metrics.jsonl"});
}

AttemptResult run_attempt(System& system, const LaunchSpec& spec) {
  LaunchPlan plan = plan_launch(system, spec);
  const JobPlan& job = plan.placed.job;
  AttemptResult result;
  result.hosts = job.hosts;
  result.path = job.path;
  if (job.plan) result.dims = job.plan->dims;
  result.is_trainer = plan.program.program.is_trainer;
  const bool files_count = job.on_this_host(system.environment) && spec.launcher.words.mpi_arguments.empty();
  const int refused = check_trainer_options(system, plan.program.program, job.ranks.size(), files_count);
  if (refused != 0) return result.with_status(refused);
  if (spec.dry_run) {
    print_dry_run(system, spec, plan);
    return result.with_status(0);
  }
  if (plan.placed.kind() == LauncherKind::open_mpi)
    check_not_root(system.environment, spec.launcher.words.allow_run_as_root);
  // A command that the launcher refuses must leave no run directory behind.
  make_launch_command(system, spec, plan, choose_run_dir(system, spec.run_dir, false), false);
  result.run_dir = choose_run_dir(system, spec.run_dir, true);
  add_metrics(system.environment, job, result.run_dir, plan.program.program);
  LaunchCommand command = make_launch_command(system, spec, plan, result.run_dir, false);
  RunRecord record = make_run_record(system, spec, plan, result.run_dir);
  if (!spec.run_dir.empty() && spec.in_history) add_to_list(system, result.run_dir);
  result.end = run_launch(system, {spec, plan, std::move(command), std::move(record), result.run_dir,
                                   render_start(system.environment, spec, plan, result.run_dir)});
  return result;
}

}  // namespace

int run_launch_spec(System& system, const LaunchSpec& spec) {
  return run_with_restarts(system, spec, run_attempt);
}

}  // namespace ddlrun::launch
