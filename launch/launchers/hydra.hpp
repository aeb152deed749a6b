// SPDX-License-Identifier: MIT
// The line of MPICH's and Intel MPI's mpiexec (hydra). Its own binding counts within a line of the host file,
// so that interleaved ranks would sit on each other's cores: `ddlrun exec` binds.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <optional>
#include <string>

namespace ddlrun::launch {

// "h1:2\nh2:2\n": hosts in the order of ranks, consecutive ones of a host folded, and only the first of equal
// rounds over the hosts.
std::string render_machine_file(const RankMap& rank_map);

// How hydra starts its proxies ("ssh", "slurm", "pbs"), by an option among the user's words or a variable of
// hydra; "" where an option leaves it to hydra, and nullopt where ddlrun chooses.
std::optional<std::string> find_hydra_bootstrap(LauncherKind kind, const LauncherWords& words,
                                                const EnvVars& environment);

// Whether the user names the program that starts the proxies (-launcher-exec, -bootstrap-exec): one like ssh,
// unless the bootstrap is named too.
bool names_hydra_starter(const LauncherWords& words, const EnvVars& environment);

// Error{request} for --mca, which only Open MPI knows.
LaunchCommand plan_hydra_command(const LaunchRequest& request, const EnvVars& environment);

}  // namespace ddlrun::launch
