// SPDX-License-Identifier: MIT
#include "launch/plan/select_launcher.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/hydra.hpp"
#include "launch/launchers/launch_command.hpp"
#include "topology/sources/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr const char* default_mpirun = "mpirun";

// What to type where a launcher cannot be run: a file that was named is no matter for PATH.
std::string other_mpirun(const std::string& mpirun) {
  if (mpirun.find('/') == std::string::npos)
    return "apt-get install openmpi-bin; or name it with --mpirun FILE";
  return "ls -l " + quote_shell(mpirun) + "; or leave out --mpirun: then the one in PATH is used";
}

// Whose it is, by what it says of itself.
LauncherVersion read_version(const std::string& program, const ProcessResult& answer) {
  try {
    return parse_launcher_version(answer.out);
  } catch (const Error& error) {
    throw Error(error.kind(),
                {error.message().what, printable(program, 120) + " --version", error.message().hint});
  }
}

ProcessResult ask_version(System& system, const std::string& program) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(20);
  return system.processes.run({program, "--version"}, limits);
}

LauncherVersion take_version(const std::string& program, const ProcessResult& result) {
  if (!result.start_error.empty()) {
    throw Error(ErrorKind::request,
                {fmt::format("{} cannot be started: {}", printable(program, 120), result.start_error),
                 program.find('/') == std::string::npos ? "PATH" : "--mpirun", other_mpirun(program)});
  }
  if (!result.ok()) {
    throw Error(ErrorKind::request, {fmt::format("`{} --version` ended with {}{}", printable(program, 120),
                                                 result.exit_status, result.timed_out ? " after 20 s" : ""),
                                     printable(trim(result.err), 160),
                                     "apt-get install openmpi-bin; or name another with --mpirun FILE"});
  }
  return read_version(program, result);
}

SelectedLauncher choose_automatically(System& system, const LauncherSpec& spec) {
  ProcessResult answer = ask_version(system, spec.mpirun);
  const bool none_there = !answer.start_error.empty() && spec.mpirun == default_mpirun;
  if (none_there && in_slurm_job(system.environment)) {
    ProcessResult srun = ask_version(system, "srun");
    if (srun.ok())
      return {take_version("srun", srun), "srun", "no mpirun here: the ranks are started by Slurm's srun"};
  }
  if (none_there) {
    return {LauncherVersion{LauncherKind::ssh, 0, 0, ""}, "ssh",
            "no mpirun here: ddlrun starts the ranks itself, over ssh and without MPI"};
  }
  SelectedLauncher chosen{take_version(spec.mpirun, answer), spec.mpirun, ""};
  if (chosen.version.kind != LauncherKind::open_mpi) {
    chosen.remark = fmt::format("{} is {} {}", printable(spec.mpirun, 120), title_of(chosen.version.kind),
                                printable(chosen.version.text, 40));
  }
  return chosen;
}

// Under which names a launcher is found; --mpirun names one alone.
std::vector<std::string> programs_of(LauncherKind kind, const LauncherSpec& spec) {
  if (spec.mpirun != default_mpirun) return {spec.mpirun};
  switch (kind) {
    case LauncherKind::open_mpi:
      return {"mpirun", "mpirun.openmpi"};
    case LauncherKind::mpich:
      return {"mpirun", "mpirun.mpich", "mpiexec.hydra"};
    case LauncherKind::intel_mpi:
      return {"mpirun", "mpiexec.hydra"};
    case LauncherKind::srun:
      return {"srun"};
    case LauncherKind::ssh:
      break;
  }
  return {};
}

std::string how_to_get(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::open_mpi:
      return "apt-get install openmpi-bin; or --mpirun FILE";
    case LauncherKind::mpich:
      return "apt-get install mpich; or --mpirun FILE";
    case LauncherKind::intel_mpi:
      return "source /opt/intel/oneapi/mpi/latest/env/vars.sh; or --mpirun FILE";
    case LauncherKind::srun:
      return "apt-get install slurm-client";
    case LauncherKind::ssh:
      break;
  }
  return "apt-get install openssh-client";
}

[[noreturn]] void refuse_other(const std::string& program, const LauncherVersion& is, LauncherKind asked) {
  throw Error(
      ErrorKind::request,
      {fmt::format("--mpirun {} is {} {}, and --launcher {} requests {}", printable(program, 120),
                   title_of(is.kind), printable(is.text, 40), name_of(asked), title_of(asked)),
       "--mpirun and --launcher",
       fmt::format("--launcher {}, or --launcher {} without --mpirun", name_of(is.kind), name_of(asked))});
}

// The release for which a command is written where none is installed.
std::optional<SelectedLauncher> assume_launcher(LauncherKind kind, const std::string& seen) {
  const bool open_mpi = kind == LauncherKind::open_mpi;
  if (!open_mpi && kind != LauncherKind::mpich && kind != LauncherKind::intel_mpi) return std::nullopt;
  const int major = open_mpi ? 4 : kind == LauncherKind::mpich ? 4 : 2021;
  const std::string version = open_mpi ? "4.1" : std::to_string(major);
  return SelectedLauncher{LauncherVersion{kind, major, open_mpi ? 1 : 0, version},
                          open_mpi ? "mpirun" : "mpiexec.hydra",
                          fmt::format("warning: {} was not found here ({}); the command is for {}",
                                      title_of(kind), seen, version)};
}

SelectedLauncher choose_named(System& system, const LauncherSpec& spec, LauncherKind kind, bool dry_run) {
  if (kind == LauncherKind::ssh) {
    if (spec.mpirun == default_mpirun) return {LauncherVersion{kind, 0, 0, ""}, "ssh", ""};
    throw Error(ErrorKind::usage,
                {fmt::format("--mpirun {} is not run: --launcher ssh starts the ranks itself, without MPI",
                             printable(spec.mpirun, 120)),
                 "--launcher ssh", "--launcher ssh alone; or --mpirun alone, to start them with MPI"});
  }
  std::vector<std::string> seen;
  for (const std::string& program : programs_of(kind, spec)) {
    const ProcessResult answer = ask_version(system, program);
    if (!answer.start_error.empty()) {
      seen.push_back(fmt::format("{}: {}", printable(program, 120), answer.start_error));
      continue;
    }
    if (answer.ok()) {
      LauncherVersion version = read_version(program, answer);
      if (version.kind == kind) return {std::move(version), program, ""};
      if (spec.mpirun != default_mpirun) refuse_other(program, version, kind);
      seen.push_back(fmt::format("{} is {} {}", printable(program, 120), title_of(version.kind),
                                 printable(version.text, 40)));
    } else {
      seen.push_back(fmt::format("{}: {}", printable(program, 120), printable(trim(answer.err), 100)));
    }
  }
  if (dry_run && spec.mpirun == default_mpirun) {
    if (auto assumed = assume_launcher(kind, join(seen, "; "))) return *assumed;
  }
  throw Error(ErrorKind::request,
              {fmt::format("{} was not found", title_of(kind)), join(seen, "; "), how_to_get(kind)});
}

}  // namespace

bool in_slurm_job(const Environment& environment) { return !environment.get("SLURM_JOB_ID").empty(); }

bool in_scheduler_job(const Environment& environment) {
  return in_slurm_job(environment) || !environment.get("PBS_JOBID").empty();
}

SelectedLauncher select_launcher(System& system, const LauncherSpec& spec, bool dry_run) {
  if (!spec.kind) return choose_automatically(system, spec);
  if (spec.kind == LauncherKind::srun && !in_slurm_job(system.environment)) {
    throw Error(ErrorKind::usage,
                {"--launcher srun needs a Slurm allocation", "SLURM_JOB_ID is not set",
                 "salloc -N 2 --exclusive and the same again; ddlrun submit --slurm; or no --launcher"});
  }
  return choose_named(system, spec, *spec.kind, dry_run);
}

topology::HostPath find_host_path(LauncherKind kind, const LauncherWords& words, const EnvVars& environment) {
  if (is_hydra(kind)) {
    const auto bootstrap = find_hydra_bootstrap(kind, words, environment);
    const bool is_open = !bootstrap && !names_hydra_starter(words, environment);
    return is_open || bootstrap == "slurm" ? topology::HostPath::automatic : topology::HostPath::ssh;
  }
  bool by_ssh = kind == LauncherKind::ssh;
  const auto read_plm = [&](const std::string& name, const std::string& value) {
    by_ssh = by_ssh || (name == "plm" && topology::excludes_slurm(value));
  };
  for (const auto& [name, value] : words.mca) read_plm(name, value);
  const std::vector<std::string>& passed = words.mpi_arguments;  // --mca plm rsh
  for (std::size_t i = 0; i + 1 < passed.size(); ++i) read_plm(passed[i], passed[i + 1]);
  return by_ssh ? topology::HostPath::ssh : topology::HostPath::automatic;
}

int rankfile_major(const LauncherVersion& launcher) {
  return launcher.kind == LauncherKind::open_mpi ? launcher.major : 4;
}

std::string choose_srun_pmi(System& system, const SelectedLauncher& launcher, ProgramMpi mpi,
                            std::vector<std::string>& remarks) {
  if (launcher.version.kind != LauncherKind::srun) return {};
  if (mpi == ProgramMpi::none) return "none";
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(20);
  const ProcessResult answer = system.processes.run({launcher.program, "--mpi=list"}, limits);
  const std::string pmi = choose_pmi(mpi, parse_pmi_list(answer.out + "\n" + answer.err));
  if (mpi == ProgramMpi::mpich && pmi == "pmi2") {  // seen with Slurm 22.05 and MPICH 4.0
    remarks.push_back(
        "MPICH's MPI_Finalize may wait forever under srun's pmi2; if it does: --launcher mpich");
  }
  return pmi;
}

void check_srun_hosts(System& system, const std::vector<std::string>& hosts) {
  const auto given = topology::find_allocation(system);
  if (!given || given->source != "SLURM_JOB_NODELIST") return;
  for (const std::string& host : hosts) {
    if (std::find(given->hosts.begin(), given->hosts.end(), host) != given->hosts.end()) continue;
    throw Error(
        ErrorKind::request,
        {fmt::format("{} is not in the allocation: srun starts nothing there", printable(host, 80)),
         fmt::format("SLURM_JOB_NODELIST={}", printable(system.environment.get("SLURM_JOB_NODELIST"))),
         "leave out the hosts: then those of the allocation are used"});
  }
}

}  // namespace ddlrun::launch
