// SPDX-License-Identifier: MIT
#include "launch/plan/slurm_slots.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/plan/select_launcher.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::launch {

namespace {

// "--oversubscribe", "rmaps_base_oversubscribe", "ras", "ras_slurm_use_entire_allocation", "--hostfile".
bool changes_slots(std::string_view word) {
  for (const char* part : {"oversubscribe", "OVERSUBSCRIBE", "ras_", "hostfile", "machinefile"}) {
    if (word.find(part) != std::string_view::npos) return true;
  }
  return word == "ras";
}

bool chooses_slots(const System& system, const LaunchSpec& spec) {
  if (spec.placement.plan.oversubscribe) return true;  // mpirun gets it
  const LauncherWords& words = spec.launcher.words;
  const auto is_one = [](const auto& setting) { return changes_slots(setting.first); };
  const auto is_variable = [](const auto& variable) {
    const std::string_view name = variable.first;
    return (name.starts_with("OMPI_MCA_") || name.starts_with("PRTE_MCA_")) && changes_slots(name.substr(9));
  };
  return std::ranges::any_of(words.mpi_arguments, changes_slots) || std::ranges::any_of(words.mca, is_one) ||
         std::ranges::any_of(system.environment.variables, is_variable);
}

std::string count_tasks(std::uint32_t tasks) {
  return fmt::format("the Slurm job has {} task{}", tasks, tasks == 1 ? "" : "s");
}

}  // namespace

std::vector<std::uint32_t> parse_tasks_per_node(std::string_view text) {
  std::vector<std::uint32_t> tasks;
  for (std::string_view part : split(text, ',')) {
    std::size_t hosts = 1;
    if (const std::size_t open = part.find("(x"); open != std::string_view::npos && part.ends_with(')')) {
      const auto number = parse_unsigned(part.substr(open + 2, part.size() - open - 3), topology::max_ranks);
      if (!number) return {};
      hosts = static_cast<std::size_t>(*number);
      part = part.substr(0, open);
    }
    const auto count = parse_unsigned(part, topology::max_ranks);
    if (!count) return {};
    tasks.insert(tasks.end(), hosts, static_cast<std::uint32_t>(*count));
  }
  return tasks;
}

void check_slurm_slots(const System& system, const LaunchSpec& spec, const JobPlan& job) {
  const Environment& environment = system.environment;
  const std::string text = environment.get("SLURM_TASKS_PER_NODE");
  const std::string nodes = environment.get("SLURM_JOB_NODELIST");
  if (!in_slurm_job(environment) || text.empty() || nodes.empty() || chooses_slots(system, spec)) return;
  const std::vector<std::string> hosts = expand_host_list(nodes);
  const std::vector<std::uint32_t> tasks = parse_tasks_per_node(text);
  if (tasks.size() != hosts.size()) return;
  std::map<std::string, std::uint32_t> planned;
  for (const PlannedRank& rank : job.ranks) ++planned[rank.host];
  std::uint32_t most = 0;
  for (const auto& [host, ranks] : planned) most = std::max(most, ranks);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto found = planned.find(hosts[i]);
    if (found == planned.end() || found->second <= tasks[i]) continue;
    const bool even = job.plan && std::ranges::all_of(tasks, [&](auto count) { return count == tasks[0]; });
    std::string what =
        even ? fmt::format("{} on each of {} node{}, {} needs {}", count_tasks(tasks[i]), hosts.size(),
                           hosts.size() == 1 ? "" : "s", topology::render_dims(job.plan->dims), most)
             : fmt::format("{} on {}, and {} ranks are planned there", count_tasks(tasks[i]), hosts[i],
                           found->second);
    throw Error(
        ErrorKind::request,
        {std::move(what), fmt::format("SLURM_TASKS_PER_NODE={}: mpirun starts as many ranks", text),
         fmt::format("#SBATCH --ntasks-per-node={0} (salloc --ntasks-per-node={0}); or --launcher srun; "
                     "or --launcher ssh",
                     most)});
  }
}

}  // namespace ddlrun::launch
