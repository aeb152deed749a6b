// SPDX-License-Identifier: MIT
#include "launch/rank/shell_variables.hpp"

#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "launch/rank/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_named = 3;

constexpr std::array<std::string_view, 45> login_names{"HOME",
                                                       "USER",
                                                       "LOGNAME",
                                                       "SHELL",
                                                       "MAIL",
                                                       "HOSTNAME",
                                                       "HOST",
                                                       "HOSTTYPE",
                                                       "MACHTYPE",
                                                       "OSTYPE",
                                                       "PWD",
                                                       "OLDPWD",
                                                       "SHLVL",
                                                       "_",
                                                       "TERM",
                                                       "TERMCAP",
                                                       "TERMINFO",
                                                       "COLORTERM",
                                                       "COLUMNS",
                                                       "LINES",
                                                       "DISPLAY",
                                                       "XAUTHORITY",
                                                       "WAYLAND_DISPLAY",
                                                       "WINDOWID",
                                                       "STY",
                                                       "TTY",
                                                       "GPG_TTY",
                                                       "KRB5CCNAME",
                                                       "LS_COLORS",
                                                       "LESSOPEN",
                                                       "LESSCLOSE",
                                                       "PS1",
                                                       "PS2",
                                                       "PROMPT_COMMAND",
                                                       "EDITOR",
                                                       "VISUAL",
                                                       "PAGER",
                                                       "HISTSIZE",
                                                       "HISTFILE",
                                                       "HISTCONTROL",
                                                       "INVOCATION_ID",
                                                       "JOURNAL_STREAM",
                                                       "ENVIRONMENT",
                                                       "ENV",
                                                       "BASH_ENV"};
// Sessions, schedulers and MPI libraries; each host of a job has its own.
constexpr std::array<std::string_view, 26> own_of_host{
    "SSH_",    "XDG_",  "DBUS_",  "SUDO_", "TMUX",      "VSCODE_", "SYSTEMD_", "BASH_FUNC_", "SLURM",
    "SBATCH_", "PBS_",  "PALS_",  "LSB_",  "LS_JOB",    "COBALT",  "SGE_",     "PMI_",       "PMIX_",
    "OMPI_",   "PRTE_", "HYDRA_", "HYDI_", "MPI_LOCAL", "DDLRUN_", "GNOME_",   "KDE_"};
constexpr std::array<std::string_view, 5> names_of_host{"TMPDIR", "TMP", "TEMP", "GPU_DEVICE_ORDINAL",
                                                        "NVIDIA_VISIBLE_DEVICES"};
// Module systems, conda and other tools set many variables of these forms; a rank needs few of them.
constexpr std::array<std::string_view, 16> software_leads{
    "LMOD",         "__LMOD",      "MODULE",    "__MODULES",  "LOADEDMODULES", "_LMFILES_",
    "_ModuleTable", "EBROOT",      "EBVERSION", "EBDEVEL",    "SPACK_",        "CONDA",
    "_CE_",         "VIRTUAL_ENV", "LC_",       "DEBUGINFOD_"};
constexpr std::array<std::string_view, 12> software_ends{"PATH",     "_HOME", "_ROOT",    "_DIR",
                                                         "_LIB",     "_INC",  "_INCLUDE", "_BASE",
                                                         "_VERSION", "_BIN",  "LANG",     "LANGUAGE"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_of_software(std::string_view name) {
  const auto ends = [name](std::string_view end) { return name.ends_with(end); };
  return name != "PYTHONPATH" &&
         (starts_with_any(name, software_leads) || std::ranges::any_of(software_ends, ends));
}

// "NAME=value" and csh's "setenv NAME value" somewhere in the text.
bool is_set_in(std::string_view text, const std::string& name) {
  if (text.find("setenv " + name + " ") != std::string_view::npos) return true;
  const std::string assignment = name + "=";
  for (std::size_t at = text.find(assignment); at != std::string_view::npos;
       at = text.find(assignment, at + 1))
    if (at == 0 || !is_variable_name(fmt::format("A{}", text[at - 1]))) return true;
  return false;
}

bool was_set_here(const ShellStart& shell, const std::string& name, const std::string& value) {
  if (!shell.environment) return false;
  const auto before = shell.environment->find(name);
  if (before != shell.environment->end()) return before->second != value;
  return !is_set_in(shell.login_files, name);
}

// exports.cpp reports these itself.
bool is_reported_elsewhere(std::string_view name) {
  return starts_with_any(name, {"NCCL_", "UCX_", "HOROVOD_"});
}

}  // namespace

VariableReach find_reach(std::string_view name) {
  if (!is_variable_name(name) || is_one_of(login_names, name) || starts_with_any(name, own_of_host))
    return VariableReach::this_host;
  if (is_one_of(names_of_host, name) || name.ends_with("_VISIBLE_DEVICES") || is_secret_name(name))
    return VariableReach::by_name;
  return VariableReach::all_hosts;
}

EnvVars select_passed(const EnvVars& environment, const std::vector<std::string>& exported) {
  EnvVars passed;
  for (const auto& [name, value] : environment) {
    const bool is_exported = std::ranges::find(exported, name) != exported.end();
    if (is_exported || find_reach(name) == VariableReach::all_hosts) passed.emplace(name, value);
  }
  return passed;
}

std::vector<std::string> find_unpassed(const EnvVars& environment, const ShellStart& shell,
                                       const std::vector<std::string>& exported, EnvironmentPassing passing) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    const VariableReach reach = find_reach(name);
    const bool is_passed = std::ranges::find(exported, name) != exported.end() ||
                           (passing == EnvironmentPassing::selected && reach == VariableReach::all_hosts);
    if (is_passed || reach == VariableReach::this_host) continue;
    const bool is_left_out = passing == EnvironmentPassing::selected && is_secret_name(name);
    const bool is_noise = passing == EnvironmentPassing::exported_names &&
                          (is_of_software(name) || is_reported_elsewhere(name));
    if (is_left_out || (!is_noise && was_set_here(shell, name, value))) names.push_back(name);
  }
  return names;
}

std::string render_unpassed(const std::vector<std::string>& names, const std::string& host) {
  if (names.empty()) return {};
  const auto first = std::span(names).first(std::min(names.size(), most_named));
  const bool is_one = names.size() == 1;
  return fmt::format("{} {} {}: -x {} passes {} to all ranks", join_first(names, most_named),
                     is_one ? "reaches" : "reach", host.empty() ? "no rank" : "only the ranks on " + host,
                     join(first, " -x "), is_one ? "it" : "them");
}

EnvVars parse_environ(std::string_view bytes) {
  EnvVars variables;
  for (const std::string_view entry : split(bytes, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

}  // namespace ddlrun::launch
