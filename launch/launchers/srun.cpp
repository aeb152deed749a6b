// SPDX-License-Identifier: MIT
#include "launch/launchers/srun.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/command_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

bool has_release(const LaunchRequest& request, int major, int minor) {
  return request.launcher.version.major > major ||
         (request.launcher.version.major == major && request.launcher.version.minor >= minor);
}

// -c by a variable would confine the step to so many CPUs a task (--exact), whatever the plan says.
void leave_out_cpu_counts(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  std::vector<std::string> names;
  for (const char* name : {"SRUN_CPUS_PER_TASK", "SLURM_CPUS_PER_TASK"}) {
    const bool is_read = std::string_view(name).starts_with("SRUN_") || !has_release(request, 22, 5);
    if (is_read && environment.count(name) != 0) names.emplace_back(name);
  }
  builder.leave_out(names, "a count of CPUs a task would confine the job step to fewer than planned");
}

std::string render_host_list(const RankMap& rank_map) {
  std::string text;
  for (const std::string& host : hosts_of_ranks(rank_map)) text += host + "\n";
  return text;
}

void add_mca_variables(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  const auto add = [&](const std::string& name, const std::string& value, const std::string& why) {
    builder.set("OMPI_MCA_" + name, value, why);
  };
  for (const auto& [name, value, why] : request.chosen_mca) {
    if (name.starts_with("btl_")) add(name, value, why);  // its daemons do not run under srun
  }
  const auto is_yield = [](const auto& entry) { return entry.first == "mpi_yield_when_idle"; };
  if (request.shares_cores && std::ranges::none_of(request.words.mca, is_yield))
    builder.set_unless_given(environment, "OMPI_MCA_mpi_yield_when_idle", "1", std::string(why_yield));
  for (const auto& [name, value] : request.words.mca) add(name, value, "you requested it");
}

// Explicit, because sbatch --export=NONE sets SLURM_EXPORT_ENV (Slurm 22.05), by which srun would leave out
// what launch sets.
void add_environment(CommandBuilder& builder, const LaunchRequest& request, const EnvVars& environment) {
  add_mca_variables(builder, request, environment);
  builder.add({"--export=ALL"}, "the ranks get the whole environment, as by srun alone; launch sets in it:");
  builder.add_name_reasons();
}

}  // namespace

ProgramMpi mpi_of(const std::vector<std::string>& libraries) {
  const auto any = [&](std::string_view lead) {
    return std::any_of(libraries.begin(), libraries.end(),
                       [&](const std::string& name) { return name.starts_with(lead); });
  };
  // Open MPI before 2 had the number 12, too, and a library of its own beside it.
  if (any("libopen-pal.so") || any("libmpi.so.40") || any("libmpi.so.20")) return ProgramMpi::open_mpi;
  if (any("libmpi.so.12") || any("libmpich.so") || any("libmpi.so.0")) return ProgramMpi::mpich;
  return any("libmpi.so") ? ProgramMpi::unknown : ProgramMpi::none;
}

std::vector<std::string> parse_pmi_list(std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with("srun: ")) line.remove_prefix(6);
    line = trim(line);
    const bool is_name = !line.empty() && line.find_first_of(" :") == std::string_view::npos;
    if (is_name) names.emplace_back(line);
  }
  return names;
}

std::string choose_pmi(ProgramMpi mpi, const std::vector<std::string>& offered) {
  const auto has = [&](const char* name) {
    return std::find(offered.begin(), offered.end(), name) != offered.end();
  };
  if (mpi == ProgramMpi::none) return "none";
  if (mpi == ProgramMpi::mpich && has("pmi2")) return "pmi2";
  if (has("pmix")) return "pmix";
  if (mpi == ProgramMpi::unknown || offered.empty()) return {};
  const std::string title(title_of(mpi == ProgramMpi::mpich ? LauncherKind::mpich : LauncherKind::open_mpi));
  throw Error(
      ErrorKind::request,
      {fmt::format("the program is linked with {}, which srun cannot start here: it has {}", title,
                   join(offered, ", ")),
       "srun --mpi=list", fmt::format("--launcher {}", mpi == ProgramMpi::mpich ? "mpich" : "openmpi")});
}

std::string place_of_ssh(bool has_mpirun) {
  return has_mpirun ? "--launcher ssh" : "--launcher ssh, or no mpirun here";
}

std::string mpi_launcher_hint(ProgramMpi mpi, bool has_mpirun) {
  if (mpi == ProgramMpi::mpich)
    return has_mpirun ? "--launcher mpich" : "--launcher mpich (apt-get install mpich)";
  return has_mpirun ? "--launcher openmpi" : "--launcher openmpi (apt-get install openmpi-bin)";
}

void check_program_mpi(ProgramMpi mpi, LauncherKind launcher, bool has_mpirun) {
  if (launcher == LauncherKind::ssh && (mpi == ProgramMpi::open_mpi || mpi == ProgramMpi::mpich)) {
    throw Error(
        ErrorKind::request,
        {"the program is linked with MPI, and ssh alone would start it: each rank would be rank 0 of 1",
         place_of_ssh(has_mpirun), mpi_launcher_hint(mpi, has_mpirun)});
  }
  const bool hydra = is_hydra(launcher);
  const bool open_mpi = launcher == LauncherKind::open_mpi;
  if (!(mpi == ProgramMpi::open_mpi && hydra) && !(mpi == ProgramMpi::mpich && open_mpi)) return;
  const bool needs_hydra = mpi == ProgramMpi::mpich;
  throw Error(
      ErrorKind::request,
      {fmt::format("the program is linked with {}, and {} would start it: each rank would be rank 0 of 1",
                   needs_hydra ? "MPICH or Intel MPI (libmpi.so.12)" : "Open MPI (libmpi.so.40)",
                   title_of(launcher)),
       fmt::format("--launcher {}", name_of(launcher)),
       mpi_launcher_hint(mpi, false) + (needs_hydra ? ", or --launcher intelmpi" : "")});
}

LaunchCommand plan_srun_command(const LaunchRequest& request, const EnvVars& environment) {
  CommandBuilder builder(request);
  leave_out_cpu_counts(builder, request, environment);
  builder.start(request.launcher.program);
  builder.add({"-n", fmt::format("{}", request.ranks)}, "the ranks of the plan");
  // No -N: the host file says it, and Slurm 23.11 and later refuse -N beside arbitrary.
  builder.add({"--distribution=arbitrary"}, "each rank on the host that its line of the host file names");
  const std::string path = request.run_dir + "/hosts";
  builder.set("SLURM_HOSTFILE", path, "the host of each rank, a line each");
  builder.add_file(path, render_host_list(*request.rank_map));
  builder.add({"--cpu-bind=none"}, "srun has one list for all hosts: ddlrun exec binds each rank itself");
  builder.add({"--gpu-bind=none"}, "likewise: the rank map gives each rank its GPU");
  if (request.shares_cores)
    builder.add({"--overcommit"}, "srun refuses more tasks on a host than the job has CPUs there");
  if (has_release(request, 20, 11))
    builder.add({"--overlap"}, "srun would wait for an interactive step of the same job to end");
  builder.add({"--kill-on-bad-exit=1"}, "a rank that fails ends the job, as under mpirun");
  builder.add({"--input=0"}, "stdin is rank 0's, as under mpirun");
  if (!request.pmi.empty())
    builder.add({"--mpi=" + request.pmi}, "how the program's MPI learns of its ranks");
  // By Slurm 22.05's own choice 12 of 150 starts of Open MPI 4.1 on 4 busy hosts crashed, by ring 0 of 420.
  if (request.pmi == "pmix")
    builder.set_unless_given(environment, "SLURM_PMIX_FENCE", "ring",
                             "else a rank may get a message before its MPI_Init is ready, and crash");
  add_environment(builder, request, environment);
  if (request.words.tag_output) builder.add({"--label"}, "each line starts with its rank");
  builder.add_asked(request.words.mpi_arguments);
  return std::move(builder).finish();
}

}  // namespace ddlrun::launch
