// SPDX-License-Identifier: MIT
#include "base/os/state_directory.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun {

std::string find_state_directory(const Environment& environment, const std::string& what,
                                 const std::string& hint) {
  const std::string xdg = environment.get("XDG_STATE_HOME");
  if (xdg.starts_with('/')) return xdg + "/ddlrun";
  const std::string home = environment.get("HOME");
  if (home.starts_with('/')) return home + "/.local/state/ddlrun";
  throw Error(ErrorKind::request,
              {fmt::format("there is no place for {}: neither XDG_STATE_HOME nor HOME is set", what),
               "environment", hint});
}

std::string find_own_state_directory(System& system, const std::string& what, const std::string& hint) {
  const std::string directory = find_state_directory(system.environment, what, hint);
  // The directory above may be a project's, which a group shares and its head owns.
  const std::string why = system.files.foreign_owner(directory);
  if (why.empty()) return directory;
  throw Error(ErrorKind::request, {fmt::format("the place for {} is not safe: {}", what, why), directory,
                                   fmt::format("export XDG_STATE_HOME=DIR   # one of your own; ls -ld {}",
                                               quote_shell(directory))});
}

}  // namespace ddlrun
