// SPDX-License-Identifier: MIT
// What the user's words for the launcher do to the output of the ranks. Pure.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <optional>

namespace ddlrun::launch {

// Whether they redirect the ranks' stderr: the supervisors' status lines would go there too. `kind`: the
// launcher that the user names, or nothing.
bool redirects_stderr(std::optional<LauncherKind> kind, const std::vector<std::string>& mpi_arguments);

// Whether they, or variables, make the launcher label the lines of the ranks or write them to files.
bool shapes_output(LauncherKind kind, const LauncherWords& words, const EnvVars& environment);

}  // namespace ddlrun::launch
