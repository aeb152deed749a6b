// SPDX-License-Identifier: MIT
#include "base/os/program_path.hpp"

#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
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

std::string remedy_for_missing_python(System& system, const std::string& name) {
  if (name != "python" || find_program(system, "python3").empty()) return {};
  return "-- python3 ...   # " + system.environment.host_name + " has python3, and no python";
}

bool would_run_by_shell(System& system, const std::string& path) {
  constexpr std::uint64_t first_bytes = 4;
  try {
    const auto part = system.files.read_from(path, 0, first_bytes);
    return part && !part->bytes.empty() && lacks_python_line(path, part->bytes);
  } catch (const Error&) {
    return false;  // it may be executed, not read
  }
}

}  // namespace ddlrun
