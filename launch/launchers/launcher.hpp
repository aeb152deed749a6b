// SPDX-License-Identifier: MIT
// The launchers: their kinds and versions, the request for a command and the command itself. Each launcher
// has a file that plans its command from the same request.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/exports.hpp"
#include "launch/rank/rank_command.hpp"
#include "launch/rank/rank_map.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::launch {

enum class LauncherKind { open_mpi, mpich, intel_mpi, srun, ssh };

// "openmpi", "mpich", "intelmpi", "srun", "ssh": as --launcher takes them.
std::string_view name_of(LauncherKind kind);
std::optional<LauncherKind> parse_launcher(std::string_view name);
// For people: "Open MPI", "MPICH", "Intel MPI", "Slurm's srun", "ssh".
std::string_view title_of(LauncherKind kind);
// MPICH's process manager, which Intel MPI took over.
bool is_hydra(LauncherKind kind);

struct LauncherVersion {
  LauncherKind kind = LauncherKind::open_mpi;
  int major = 0;
  int minor = 0;
  std::string text;  // "4.1.4"

  bool operator==(const LauncherVersion&) const = default;
};

// The launcher that starts the ranks.
struct SelectedLauncher {
  LauncherVersion version;
  std::string program = "mpirun";  // as it is called
  std::string remark;              // why this one, for people; "" where no remark is needed
};

// What the user asks of mpirun or srun itself.
struct LauncherWords {
  std::vector<std::pair<std::string, std::string>> mca;  // name, value
  std::vector<std::string> mpi_arguments;                // passed on unchanged
  bool tag_output = false;
  bool allow_run_as_root = false;
};

// The user's arguments for the launcher choose the ranks' directory.
bool names_workdir(const LauncherWords& words);

// Why Open MPI's ranks get mpi_yield_when_idle where they may share cores.
constexpr std::string_view why_yield = "ranks that wait leave the core to those that compute";

struct LaunchRequest {
  SelectedLauncher launcher;
  LauncherWords words;
  std::uint32_t ranks = 1;
  std::string rankfile;  // path
  // Hosts with the ranks of each, in the order of their first ranks; empty: all ranks are on this host.
  std::vector<std::pair<std::string, std::uint32_t>> ranks_of_hosts;
  Exports exports;
  std::vector<std::array<std::string, 3>> chosen_mca;  // chosen by ddlrun: name, value, why
  bool shares_cores = false;                           // several ranks on a core
  bool keepalives = false;                             // other hosts take part, whose loss must be noticed
  bool has_step = false;                               // srun reaches all hosts, in a Slurm job
  RankProgram program;
  // Nothing: ranks get only what the launcher itself can set, which Open MPI alone allows.
  std::optional<RankMap> rank_map;
  std::string run_dir;          // directory of the command's files
  std::string workdir;          // directory in which launch was called
  bool enters_workdir = false;  // a host that lacks it is an error; else its ranks start elsewhere
  std::string pmi;              // srun --mpi; "": srun's default
};

struct LaunchFile {
  std::string path;
  std::string text;
};

struct LaunchCommand {
  Command argv;
  EnvVars environment;            // added to ours
  std::vector<Reason> reasons;    // in the order of argv
  EnvVars own;                    // of `environment`: what the launcher itself reads; anybody may see it
  std::vector<LaunchFile> files;  // to be written before
  std::size_t connections = 0;    // child processes by which it reaches the hosts, one each; 0: not known
  bool forwards_end = false;      // forwards SIGURG to the ranks, whose supervisors turn it into TERM
  std::string rank_map_path;      // the file whose text is DDLRUN_RANKS in `environment`; or ""
};

}  // namespace ddlrun::launch
