// SPDX-License-Identifier: MIT
#include "launch/launchers/launch_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/launchers/hydra.hpp"
#include "launch/launchers/open_mpi.hpp"
#include "launch/launchers/srun.hpp"
#include "launch/launchers/ssh.hpp"
#include "launch/rank/rank_setup.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

LauncherVersion version_of(LauncherKind kind, std::string_view text) {
  text = trim(text);
  text = text.substr(0, text.find(' '));
  const auto parts = split(text, '.');
  const auto major = parse_unsigned(parts[0], 9999);
  const auto minor = parts.size() > 1 ? parse_unsigned(parts[1], 9999) : std::nullopt;
  return {kind, static_cast<int>(major.value_or(0)), static_cast<int>(minor.value_or(0)), std::string(text)};
}

// What stands behind `lead` in the line, or nothing.
std::optional<std::string_view> behind(std::string_view text, std::string_view lead) {
  const std::size_t at = text.find(lead);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + lead.size());
  return text.substr(0, text.find('\n'));
}

// Words for mpirun, where there is none.
void refuse_mpi_words(const LaunchRequest& request) {
  const bool any =
      !request.words.mca.empty() || !request.words.mpi_arguments.empty() || request.words.tag_output;
  if (!any) return;
  const char* option = !request.words.mca.empty() ? "--mca"
                       : request.words.tag_output ? "--tag-output"
                                                  : "--mpi-arg";
  throw Error(
      ErrorKind::usage,
      {fmt::format("{} is for mpirun, and these ranks are started over ssh", option), "--launcher ssh",
       request.words.tag_output ? "--rank-output prefix" : "the same without it, or --launcher openmpi"});
}

}  // namespace

LauncherVersion parse_launcher_version(std::string_view output) {
  if (output.starts_with("HYDRA build details"))
    return version_of(LauncherKind::mpich, behind(output, "Version:").value_or(""));
  if (output.find("Intel(R) MPI Library") != std::string_view::npos)
    return version_of(LauncherKind::intel_mpi, behind(output, "Version ").value_or(""));
  for (const std::string_view lead : {"slurm-wlm ", "slurm "}) {
    if (output.starts_with(lead)) return version_of(LauncherKind::srun, *behind(output, lead));
  }
  const MpirunVersion mpirun = parse_mpirun_version(output);
  return {LauncherKind::open_mpi, mpirun.major, mpirun.minor, mpirun.text};
}

LaunchCommand plan_launch_command(const LaunchRequest& request, const EnvVars& environment) {
  switch (request.launcher.version.kind) {
    case LauncherKind::mpich:
    case LauncherKind::intel_mpi:
      return plan_hydra_command(request, environment);
    case LauncherKind::srun:
      return plan_srun_command(request, environment);
    case LauncherKind::ssh:
      refuse_mpi_words(request);
      return plan_ssh_command({request.rank_map.value_or(RankMap()),
                               request.run_dir,
                               request.workdir,
                               request.exports,
                               request.program,
                               "ssh",
                               {}});
    case LauncherKind::open_mpi:
      break;
  }
  return plan_open_mpi_command(request, environment);
}

std::string render_launch_command(const LaunchCommand& line, const Exports& exports) {
  std::string text;
  for (const EnvVars* variables : {&exports.set_by_us, &line.own}) {
    for (const auto& [name, value] : *variables) text += name + "=" + quote_shell(value) + " ";
  }
  if (!line.rank_map_path.empty())
    text += fmt::format("{}=\"$(cat {})\" ", rank_map_variable, quote_shell(line.rank_map_path));
  return text + render_shell(line.argv);
}

}  // namespace ddlrun::launch
