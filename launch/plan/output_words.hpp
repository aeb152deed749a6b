// SPDX-License-Identifier: MIT
// What the user's words for the launcher do to the output of the ranks. Pure.
#pragma once

#include "launch/launchers/launcher.hpp"
#include "launch/plan/launch_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// "--rank-output files": the option that asks for this framed output.
std::string typed_output(const OutputSpec& output);

// Whether they redirect the ranks' stderr: the supervisors' status lines would go there too. `kind`: the
// launcher, or nothing where it is not chosen yet.
bool redirects_stderr(std::optional<LauncherKind> kind, const std::vector<std::string>& mpi_arguments);

// Error{usage} where the output is framed, and the user's words redirect the stderr that has the frames.
void check_frames_arrive(const OutputSpec& output, std::optional<LauncherKind> kind,
                         const std::vector<std::string>& mpi_arguments);

// Whether they, or variables, make the launcher label the lines of the ranks or write them to files.
bool shapes_output(LauncherKind kind, const LauncherWords& words, const EnvVars& environment);

}  // namespace ddlrun::launch
