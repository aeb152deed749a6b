// SPDX-License-Identifier: MIT
// What the lines that start ranks ask for themselves: srun's options, -np and -H of horovodrun and mpirun.
#include "base/text/text.hpp"
#include "schedulers/scripts/launch_step.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class StepRules : private RuleSet {
 public:
  explicit StepRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check();

 private:
  void check_srun(const PlacedCommand& placed, const LaunchStep& step);
  void check_horovodrun(const PlacedCommand& placed, const LaunchStep& step);
  void check_host_names(const PlacedCommand& placed, const LaunchStep& step);
};

void StepRules::check_srun(const PlacedCommand& placed, const LaunchStep& step) {
  for (const StepExcess& excess : find_step_excess(step, view_.request))
    add("step-over-job", Severity::error, placed.place, "srun requests " + excess.what,
        "srun rejects the step: More processors requested than permitted, or Invalid generic resource",
        fmt::format("#SBATCH {}, or request less with srun", excess.directive));
}

// It starts its ranks by ssh, without the scheduler: only the hosts and their cores limit them.
void StepRules::check_horovodrun(const PlacedCommand& placed, const LaunchStep& step) {
  if (step.slots > 0 && step.tasks > step.slots)
    add("ranks-mismatch", Severity::error, placed.place,
        fmt::format("{} ranks are started, but -H has {} slots", step.tasks, step.slots),
        "horovodrun rejects more processes than slots", fmt::format("-np {}", step.slots));
  const std::uint64_t cores = core_count(view_.request);
  if (view_.request.exclusive || cores == 0 || step.tasks <= cores) return;
  add("ranks-mismatch", Severity::error, placed.place,
      fmt::format("{} ranks are started on {} cores of the job", step.tasks, cores),
      "several ranks share a core, or take one of another job",
      view_.pbs() ? "a larger ncpus, or a smaller -np" : "a larger --ntasks-per-node, or a smaller -np");
}

// Names of hosts beside -H; the scheduler assigns others, unless the job asks for these.
void StepRules::check_host_names(const PlacedCommand& placed, const LaunchStep& step) {
  const ResourceRequest& request = view_.request;
  if (step.hosts.empty() || step.hosts.starts_with("localhost")) return;
  if (!request.chunks.empty() && step.nodes > node_count(request))
    add("step-over-job", Severity::error, placed.place,
        fmt::format("-H names {} hosts, the job has {}", step.nodes, node_count(request)),
        "ranks would run on hosts of other jobs", fmt::format("request {} nodes", step.nodes));
  const bool asked = !request.hosts.empty() || std::ranges::any_of(request.chunks, [](const Chunk& chunk) {
    return !chunk.host.empty();
  });
  if (asked) return;
  add("hosts-by-hand", Severity::warning, placed.place,
      fmt::format("-H {} names hosts that the scheduler may not assign", printable(step.hosts, 80)),
      "the job gets other hosts: the ranks fail, or run on the hosts of other jobs",
      view_.pbs() ? "use the hosts of \"$PBS_NODEFILE\""
                  : "the hosts of scontrol show hostnames \"$SLURM_JOB_NODELIST\"");
}

std::vector<Finding> StepRules::check() {
  if (view_.script.dialect == Dialect::none) return {};
  for (const PlacedCommand& placed : view_.commands) {
    const auto step = read_launch_step(placed.command);
    if (!step) continue;
    if (view_.slurm()) check_srun(placed, *step);
    if (step->launcher == "horovodrun") check_horovodrun(placed, *step);
    check_host_names(placed, *step);
  }
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> lint_steps(const ScriptView& view) { return StepRules(view).check(); }

}  // namespace ddlrun::job_scripts
