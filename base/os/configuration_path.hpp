// SPDX-License-Identifier: MIT
// Where configuration lies: the directory of the user, then the directories of the centre for all its users.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun {

// The nearest first. The user's: XDG_CONFIG_HOME/ddlrun, else HOME/.config/ddlrun. The centre's:
// DDLRUN_SITE_DIR alone, or PREFIX/etc/ddlrun of a ddlrun in PREFIX/bin and /etc/ddlrun. Error{request} where
// DDLRUN_SITE_DIR is no absolute path.
std::vector<std::string> find_configuration_directories(const Environment& environment);

// The files `name` ("config.yaml", "sites/x.yaml") of all these directories, the nearest first.
std::vector<std::string> list_configuration_files(System& system, const std::string& name);

// Error{request} for a file that another user can change.
void check_configuration_file(System& system, const std::string& path);

// All of them, checked.
std::vector<std::string> find_configuration_files(System& system, const std::string& name);

// The nearest of them. A file that it hides is not examined.
std::optional<std::string> find_configuration_file(System& system, const std::string& name);

// The names below `directory` ("sites") of all these directories that end in `ending`, without it; sorted,
// each once.
std::vector<std::string> list_configuration_names(System& system, const std::string& directory,
                                                  const std::string& ending);

}  // namespace ddlrun
