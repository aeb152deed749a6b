// SPDX-License-Identifier: MIT
#include "launch/launchers/hydra.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/command_builder.hpp"
#include "topology/sources/slurm_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ddlrun::launch {

namespace {

// Host and how many ranks in a row.
using Runs = std::vector<std::pair<std::string, std::size_t>>;

Runs runs_of_hosts(const RankMap& rank_map) {
  Runs runs;
  for (const std::string& host : hosts_of_ranks(rank_map)) {
    if (runs.empty() || runs.back().first != host) runs.emplace_back(host, 0);
    ++runs.back().second;
  }
  return runs;
}

// hydra starts again at the top of its file when the ranks outnumber it. A host that the file has twice
// counts as two: MPICH's ranks then share no memory (4.0.2 and 5.0.2).
Runs first_cycle(Runs runs, std::size_t hosts) {
  for (std::size_t i = hosts; i < runs.size(); ++i) {
    const auto& [host, ranks] = runs[i - hosts];
    const bool is_last = i + 1 == runs.size();
    if (runs[i].first != host || runs[i].second > ranks || (runs[i].second < ranks && !is_last)) return runs;
  }
  runs.resize(std::min(runs.size(), hosts));
  return runs;
}

std::string render_runs(const Runs& runs) {
  std::string text;
  for (const auto& [host, ranks] : runs) text += fmt::format("{}:{}\n", host, ranks);
  return text;
}

std::size_t ranks_in(const Runs& runs) {
  std::size_t sum = 0;
  for (const auto& [host, ranks] : runs) sum += ranks;
  return sum;
}

void refuse_mca(const LaunchRequest& request) {
  if (request.words.mca.empty()) return;
  throw Error(
      ErrorKind::usage,
      {fmt::format("--mca {} is Open MPI's; the ranks are started by {}",
                   printable(request.words.mca.front().first, 60), title_of(request.launcher.version.kind)),
       fmt::format("--launcher {}", name_of(request.launcher.version.kind)),
       fmt::format("--launcher openmpi; or its own setting: -x {}_...=value",
                   request.launcher.version.kind == LauncherKind::mpich ? "MPIR_CVAR" : "I_MPI")});
}

void add_hosts(CommandBuilder& builder, const LaunchRequest& request) {
  const std::size_t hosts = request.rank_map->hosts.size();
  const Runs runs = first_cycle(runs_of_hosts(*request.rank_map), hosts);
  const std::string path = request.run_dir + "/hosts";
  std::string why = "which rank sits on which host";
  if (runs.size() > hosts) {
    why += fmt::format("; its {} lines for {} hosts take an ssh connection each", runs.size(), hosts);
    if (request.launcher.version.kind == LauncherKind::mpich)
      why += ", and to MPICH ranks of two lines share no memory";
  } else if (request.ranks > ranks_in(runs)) {
    why += "; further ranks start again at its top";
  }
  // Intel's -f takes each name once.
  builder.add({request.launcher.version.kind == LauncherKind::mpich ? "-f" : "-machinefile", path}, why);
  builder.add_file(path, render_runs(runs));
}

void set_intel(CommandBuilder& builder, const EnvVars& environment) {
  builder.set_unless_given(environment, "I_MPI_PIN", "0",
                           "Intel MPI's own pinning is off: each rank is bound by ddlrun exec");
  builder.set_unless_given(environment, "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "0",
                           "inside a scheduler, too, the plan says where ranks are");
}

void add_names(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  std::vector<std::string> names = builder.names();
  const auto own = request.launcher.version.kind == LauncherKind::mpich
                       ? find_library_variables(environment, {"MPIR_CVAR_", "MPICH_"})
                       : find_library_variables(environment, {"I_MPI_", "FI_"});
  for (const std::string& name : own) add_once(names, name);
  if (request.launcher.version.kind == LauncherKind::intel_mpi) add_once(names, "I_MPI_PIN");
  builder.add({"-genvlist", join(names, ",")}, "the variables that reach the ranks, by name:");
  builder.add_name_reasons();
}

// Options of the program that starts the proxies.
void set_starter_options(CommandBuilder& builder, bool mpich, const EnvVars& environment, std::string options,
                         std::string why) {
  const std::string name = mpich ? "HYDRA_LAUNCHER_EXTRA_ARGS" : "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS";
  builder.set_unless_given(environment, name, std::move(options), std::move(why));
}

}  // namespace

std::optional<std::string> find_hydra_bootstrap(LauncherKind kind, const LauncherWords& words,
                                                const EnvVars& environment) {
  const std::vector<std::string>& given = words.mpi_arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view word = std::string_view(given[i]).substr(given[i].starts_with("--") ? 1 : 0);
    if (word.starts_with("-rmk")) return std::string();
    for (const std::string_view option : {"-launcher", "-bootstrap"}) {
      if (word == option) return i + 1 < given.size() ? given[i + 1] : std::string();
      if (word.starts_with(std::string(option) + "=")) return std::string(word.substr(option.size() + 1));
    }
  }
  for (const char* name :
       {kind == LauncherKind::mpich ? "HYDRA_LAUNCHER" : "I_MPI_HYDRA_BOOTSTRAP", "HYDRA_BOOTSTRAP"}) {
    const auto value = environment.find(name);
    if (value != environment.end() && !value->second.empty()) return value->second;
  }
  return std::nullopt;
}

bool names_hydra_starter(const LauncherWords& words, const EnvVars& environment) {
  const auto is_option = [](const std::string& word) {
    return word.find("-launcher-exec") <= 1 || word.find("-bootstrap-exec") <= 1;
  };
  return std::ranges::any_of(words.mpi_arguments, is_option) ||
         std::ranges::any_of(
             std::array{"HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP_EXEC", "I_MPI_HYDRA_BOOTSTRAP_EXEC"},
             [&](const char* name) { return environment.contains(name); });
}

std::string render_machine_file(const RankMap& rank_map) {
  return render_runs(first_cycle(runs_of_hosts(rank_map), rank_map.hosts.size()));
}

LaunchCommand plan_hydra_command(const LaunchRequest& request, const EnvVars& environment) {
  refuse_mca(request);
  CommandBuilder builder(request);
  const LauncherKind kind = request.launcher.version.kind;
  const bool mpich = kind == LauncherKind::mpich;
  const auto chosen = find_hydra_bootstrap(kind, request.words, environment);
  const bool has_starter = names_hydra_starter(request.words, environment);
  const std::string bootstrap = chosen.value_or(request.has_step && !has_starter ? "slurm" : "ssh");
  if (bootstrap == "slurm")
    builder.leave_out(topology::find_step_variables(environment),
                      "a step of one task on each host, whatever the job's own tasks are");
  builder.start(request.launcher.program);
  if (!chosen)
    builder.add({mpich ? "-launcher" : "-bootstrap", bootstrap}, "hosts are reached as ddlrun reaches them");
  add_hosts(builder, request);
  builder.add({"-n", fmt::format("{}", request.ranks)}, "the ranks of the plan");
  if (!mpich) set_intel(builder, environment);
  if (bootstrap == "slurm")
    set_starter_options(builder, mpich, environment, join(topology::step_options(), " "),
                        "for srun: its step waits for no other one, and binds no rank");
  else if (bootstrap == "ssh" && request.keepalives)
    set_starter_options(builder, mpich, environment, "-oServerAliveInterval=5 -oServerAliveCountMax=6",
                        "for ssh: a host that goes away is noticed within 30 s, not a quarter of an hour");
  add_names(builder, request, environment);
  if (request.words.tag_output) builder.add({"-prepend-rank"}, "each line starts with its rank");
  builder.add_asked(request.words.mpi_arguments);
  LaunchCommand command = std::move(builder).finish();
  if (mpich && bootstrap == "ssh" && !has_starter) command.connections = request.rank_map->hosts.size();
  return command;
}

}  // namespace ddlrun::launch
