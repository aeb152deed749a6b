// SPDX-License-Identifier: MIT
#include "launch/plan/shell_environment.hpp"

#include "base/os/host_info.hpp"
#include "base/process/process_stat.hpp"
#include "base/text/error.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

namespace {

constexpr int most_ancestors = 8;
constexpr std::uint64_t most_stat_bytes = 4 << 10, most_environ_bytes = 4 << 20, most_login_bytes = 256 << 10;

std::optional<ProcessStat> read_stat(System& system, const std::string& process) {
  return parse_process_stat(system.files.read("/proc/" + process + "/stat", most_stat_bytes));
}

bool is_any_shell(std::string_view name) {
  return is_shell(name) || name == "fish" || name == "tcsh" || name == "csh";
}

std::optional<EnvVars> read_shell_environment(System& system) {
  try {
    auto at = read_stat(system, "self");
    for (int i = 0; i < most_ancestors && at && at->parent != 0; ++i) {
      const std::string parent = std::to_string(at->parent);
      at = read_stat(system, parent);
      if (at && is_any_shell(at->command))
        return parse_environ(system.files.read("/proc/" + parent + "/environ", most_environ_bytes));
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
