// SPDX-License-Identifier: MIT
#include "base/os/program_path.hpp"

#include "base/text/text.hpp"

#include <string_view>

namespace ddlrun {

std::string find_program(System& system, const std::string& name) {
  if (name.find('/') != std::string::npos) return system.files.exists(name) ? name : std::string();
  const std::string path = system.environment.get("PATH");
  for (const std::string_view directory : split(path, ':')) {
    std::string candidate = (directory.empty() ? std::string(".") : std::string(directory)) + "/" + name;
    if (system.files.exists(candidate)) return candidate;
  }
  return {};
}

}  // namespace ddlrun
