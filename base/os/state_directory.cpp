// SPDX-License-Identifier: MIT
#include "base/os/state_directory.hpp"

#include "base/text/error.hpp"

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

}  // namespace ddlrun
