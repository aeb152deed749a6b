// SPDX-License-Identifier: MIT
#include "base/os/nearest_file.hpp"

#include "base/os/host_info.hpp"
#include "base/text/text.hpp"

#include <vector>

namespace ddlrun {

std::optional<std::string> nearest_file(System& system, const std::string& path) {
  if (system.kernel == nullptr) return std::nullopt;
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string directory = above.size() > 1 ? above.substr(0, slash) : above;
  const auto names = system.kernel->list_directory(directory.empty() ? "." : directory);
  const auto near = closest_match(path.substr(above.size()), names);
  return near ? std::optional(above + *near) : std::nullopt;
}

std::optional<std::string> nearest_program(System& system, const std::string& name) {
  if (system.kernel == nullptr) return std::nullopt;
  const std::string path = system.environment.get("PATH");
  std::vector<std::string> names;
  for (const std::string_view directory : split(path, ':')) {
    if (directory.empty()) continue;
    for (std::string& found : system.kernel->list_directory(std::string(directory)))
      names.push_back(std::move(found));
  }
  return closest_match(name, names);
}

std::string remedy_for_missing_file(System& system, const std::string& path) {
  if (const auto near = nearest_file(system, path)) return quote_shell(*near) + "   # did you mean this?";
  const std::size_t slash = path.rfind('/');
  const std::string above =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  return "ls " + quote_shell(above) + "   # what is there";
}

}  // namespace ddlrun
