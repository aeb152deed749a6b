// SPDX-License-Identifier: MIT
// Variables of the shell that starts a launch: which belong to ranks on other hosts too. Pure.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

enum class VariableReach {
  all_hosts,  // of the job
  by_name,    // a secret, or true of this host only (CUDA_VISIBLE_DEVICES, TMPDIR): other hosts only by -x
  this_host,  // of this login, or of a scheduler's job: it would be wrong on another host
};
VariableReach find_reach(std::string_view name);

// What `--launcher ssh` passes to the ranks: the exported names, and what reaches all hosts.
EnvVars select_passed(const EnvVars& environment, const std::vector<std::string>& exported);

// How a launcher starts ranks on other hosts.
enum class EnvironmentPassing { exported_names, selected };

// How the user's shell started. What it did not start with and no login file sets was exported by hand, or
// set for this command.
struct ShellStart {
  std::optional<EnvVars> environment;  // nothing: not known
  std::string login_files;             // their text: /etc/profile, ~/.bashrc, ...
};

// The variables that the user set and that ranks on other hosts lack. Where the environment of the shell is
// not known, only names of secrets that are left out.
std::vector<std::string> find_unpassed(const EnvVars& environment, const ShellStart& shell,
                                       const std::vector<std::string>& exported, EnvironmentPassing passing);

// One line; "" for no names. `host`: this host where ranks run on it, else "".
std::string render_unpassed(const std::vector<std::string>& names, const std::string& host);

// "NAME=value" and NUL, again and again, as /proc/PID/environ has it.
EnvVars parse_environ(std::string_view bytes);

}  // namespace ddlrun::launch
