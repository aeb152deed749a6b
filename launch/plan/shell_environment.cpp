// SPDX-License-Identifier: MIT
#include "launch/plan/shell_environment.hpp"

#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

namespace {

constexpr int most_ancestors = 8;
constexpr std::uint64_t most_status_bytes = 64 << 10, most_environ_bytes = 4 << 20,
                        most_login_bytes = 256 << 10;

// "" where the status has none.
std::string parent_in(std::string_view status) {
  for (const std::string_view line : split(status, '\n'))
    if (line.starts_with("PPid:")) return std::string(trim(line.substr(5)));
  return {};
}

bool is_any_shell(std::string_view name) {
  return is_shell(name) || name == "fish" || name == "tcsh" || name == "csh";
}

std::optional<EnvVars> read_shell_environment(System& system) {
  std::string process = "self";
  try {
    for (int i = 0; i < most_ancestors; ++i) {
      process = parent_in(system.files.read("/proc/" + process + "/status", most_status_bytes));
      if (process.empty() || process == "0") return std::nullopt;
      const std::string name = system.files.read("/proc/" + process + "/comm", most_status_bytes);
      if (is_any_shell(trim(name)))
        return parse_environ(system.files.read("/proc/" + process + "/environ", most_environ_bytes));
    }
  } catch (const Error&) {
    return std::nullopt;  // of another user, or gone
  }
  return std::nullopt;
}

std::string read_login_files(System& system) {
  const std::string home = system.environment.get("HOME") + "/";
  std::vector<std::string> paths{"/etc/environment", "/etc/profile", "/etc/bash.bashrc", "/etc/bashrc"};
  for (const char* name : {".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zprofile",
                           ".zshrc", ".cshrc", ".tcshrc"})
    paths.push_back(home + name);
  if (system.kernel != nullptr)
    for (const std::string& name : system.kernel->list_directory("/etc/profile.d"))
      paths.push_back("/etc/profile.d/" + name);
  std::string all;
  for (const std::string& path : paths) {
    try {
      if (const auto part = system.files.read_from(path, 0, most_login_bytes)) all += part->bytes + "\n";
    } catch (const Error&) {
      continue;  // a directory, or of another user
    }
  }
  return all;
}

}  // namespace

ShellStart read_shell_start(System& system) {
  ShellStart start{read_shell_environment(system), {}};
  if (start.environment) start.login_files = read_login_files(system);
  return start;
}

}  // namespace ddlrun::launch
