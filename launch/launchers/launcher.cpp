// SPDX-License-Identifier: MIT
#include "launch/launchers/launcher.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

struct LauncherNames {
  LauncherKind kind;
  std::string_view name, title;
};

constexpr std::array<LauncherNames, 5> launcher_names{{
    {LauncherKind::open_mpi, "openmpi", "Open MPI"},
    {LauncherKind::mpich, "mpich", "MPICH"},
    {LauncherKind::intel_mpi, "intelmpi", "Intel MPI"},
    {LauncherKind::srun, "srun", "Slurm's srun"},
    {LauncherKind::ssh, "ssh", "ssh"},
}};

}  // namespace

std::string_view name_of(LauncherKind kind) { return launcher_names[static_cast<std::size_t>(kind)].name; }
std::string_view title_of(LauncherKind kind) { return launcher_names[static_cast<std::size_t>(kind)].title; }

bool names_workdir(const LauncherWords& words) {
  constexpr std::array<std::string_view, 6> options{"-wdir", "--wdir", "-wd", "--wd", "--chdir", "-D"};
  return std::ranges::any_of(words.mpi_arguments, [&](std::string_view word) {
    return std::ranges::find(options, word.substr(0, word.find('='))) != options.end();
  });
}

bool is_hydra(LauncherKind kind) { return kind == LauncherKind::mpich || kind == LauncherKind::intel_mpi; }

std::optional<LauncherKind> parse_launcher(std::string_view name) {
  for (const LauncherNames& one : launcher_names) {
    if (one.name == name) return one.kind;
  }
  return std::nullopt;
}

}  // namespace ddlrun::launch
