// SPDX-License-Identifier: MIT
// Settings that change MPI and NCCL behind the job's back, and secrets that would travel with it.
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::doctor {

namespace {

bool is_plain_path(const HostReport& host) {
  return host.reach.via == Via::ssh || host.reach.via == Via::pbsdsh;
}

// Where no Open MPI was found, or its gatherer broke, its files of settings are unknown, not missing.
std::optional<std::string> why_not_compared(const HostReport& host) {
  if (host.failed_gatherers.contains("mpi")) return "its Open MPI could not be looked at";
  const Fact* mpirun = host.facts.find("mpi.program.mpirun");
  if (mpirun == nullptr || mpirun->known) return std::nullopt;
  return "no mpirun was found there: see SSH-05";
}

// All settings of one host, one a line; nothing where they were not read.
std::optional<std::string> settings_of(const HostReport& host) {
  if (!host.facts.text("environment.settings")) return std::nullopt;
  if (why_not_compared(host)) return std::nullopt;
  std::vector<std::string> lines;
  for (const char* name : {"environment.settings", "mpi.parameter_files"}) {
    for (const std::string_view line : host.facts.list(name)) lines.emplace_back(line);
  }
  return join(lines, "\n");
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.empty()) lines.emplace(line);
  }
  return lines;
}

std::vector<std::string> minus(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

std::string first_lines(const std::vector<std::string>& lines) { return join_first(lines, 4); }

bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

// "FILE: NAME = VALUE" or "NAME=VALUE" -> the command that takes it away.
std::string removal_of(const std::string& line) {
  const auto colon = line.find(": ");
  if (line.starts_with('/') && colon != std::string::npos) {
    const std::string_view rest = std::string_view(line).substr(colon + 2);
    const std::string_view name = trim(rest.substr(0, rest.find('=')));
    return is_name(name) ? fmt::format("sed -i '/^ *{} *=/d' {}", name, quote_shell(line.substr(0, colon)))
                         : "";
  }
  const std::string name = line.substr(0, line.find('='));
  return is_name(name) ? into_bashrc("unset " + name) : "";
}

Remedy removal(const std::vector<std::string>& lines) {
  Remedy remedy;
  for (const std::string& line : lines) {
    const std::string command = removal_of(line);
    if (!command.empty() && remedy.commands.size() < 8) remedy.commands.push_back(command);
  }
  remedy.needs_root = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("/etc/") || line.starts_with("/usr/") || line.starts_with("/opt/");
  });
  remedy.note =
      "or set it everywhere alike: mpirun --mca NAME VALUE, -x NAME. A variable may also come from a module "
      "or /etc/profile.d: grep -rn NAME /etc/profile.d ~/.bashrc";
  return remedy;
}

CheckResult differing_settings(const std::vector<std::string>& extra,
                               const std::vector<std::string>& lacking) {
  std::string observed;
  if (!extra.empty()) observed = "only here: " + first_lines(extra);
  if (!lacking.empty())
    observed += fmt::format("{}missing here: {}", observed.empty() ? "" : "; ", first_lines(lacking));
  Remedy remedy = removal(extra);
  if (extra.empty())
    remedy.note =
        "give every host the same file or variable, or set it on mpirun's line: --mca NAME VALUE, -x NAME";
  return fail(std::move(observed), "the settings of most hosts",
              "ranks that choose different transports or protocols wait for each other forever, or end with "
              "a truncated message",
              std::move(remedy));
}

// NCCL and UCX do not read what only the driver host's shell has: mpirun passes on OMPI_MCA_* alone.
void check_driver_host_settings(const CheckInput& input, const std::set<std::string>& common,
                                std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const std::string_view line : input.driver_host.facts.list("environment.settings")) {
    const std::string name(line.substr(0, line.find('=')));
    // Slurm 23.11 and later set those of hydra in each job; mpirun alone reads them.
    const bool forwarded_or_own = name.starts_with("OMPI_MCA_") || name.starts_with("PMIX_MCA_") ||
                                  name.starts_with("PRTE_MCA_") || name.starts_with("I_MPI_HYDRA_");
    const bool exported =
        std::find(input.job.exports.begin(), input.job.exports.end(), name) != input.job.exports.end();
    if (!forwarded_or_own && !exported && common.count(std::string(line)) == 0) names.push_back(name);
  }
  if (names.empty()) return;
  std::vector<std::string> flags;
  for (const std::string& name : names) flags.push_back("-x " + name);
  CheckResult result = warn(
      fmt::format("set on the driver host only: {}", first_lines(names)), "exported to all ranks, or unset",
      "ranks on the driver host would see it and the others not, as mpirun passes on nothing but OMPI_MCA_*",
      {{"unset " + join(names, " ")}, false, true, "or export it to all ranks: " + join(flags, " ")});
  std::vector<Finding> one = single_finding("MPI-07", std::move(result));
  findings.push_back(std::move(one.front()));
}

// "-x NAME" of a variable that is not set: it stands in exports, and nothing by that name in environment.
void check_exports(const CheckInput& input, std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const std::string& name : input.job.exports) {
    const auto here = input.driver_host.facts.list("environment.settings");
    const bool is_set = std::any_of(here.begin(), here.end(), [&](std::string_view line) {
      return line.starts_with(name) && line.substr(name.size()).starts_with('=');
    });
    if (!is_set && input.job.environment.count(name) == 0) names.push_back(name);
  }
  if (names.empty()) return;
  CheckResult result =
      warn(fmt::format("-x {}: not set here", first_lines(names)), "a variable that is set",
           "mpirun says \"could not find environment variable\", and the ranks do without it",
           {{}, false, true, fmt::format("export {0}=VALUE first, or leave out -x {0}", names[0])});
  std::vector<Finding> one = single_finding("MPI-07", std::move(result));
  findings.push_back(std::move(one.front()));
}

std::vector<Finding> check_mpi_settings(const CheckInput& input) {
  const std::vector<ValueGroup> groups = group_by_value(
      input, [](const HostReport& host) { return is_plain_path(host) ? settings_of(host) : std::nullopt; });
  const auto common = groups.empty() ? std::set<std::string>() : lines_of(groups.front().value);
  std::vector<Finding> findings = evaluate_each(
      input, "MPI-07",
      [&](const HostReport& host) {
        if (!is_plain_path(host))
          return skip("looked at from inside its launcher, or on the driver host itself");
        const auto settings = settings_of(host);
        if (const auto why = why_not_compared(host); why && !settings) return skip(*why);
        if (!settings) return skip(host.facts.why_missing("environment.settings"));
        const auto own = lines_of(*settings);
        const auto extra = minus(own, common), lacking = minus(common, own);
        if (!extra.empty() || !lacking.empty()) return differing_settings(extra, lacking);
        return pass(own.empty() ? "none" : fmt::format("{} settings, alike on all", own.size()));
      },
      "environment");
  check_exports(input, findings);
  if (!groups.empty()) check_driver_host_settings(input, common, findings);
  return findings;
}

CheckResult evaluate_secrets(const CheckInput& input) {
  std::vector<std::string> forwarded;
  for (const std::string& name : input.job.exports) {
    if (is_secret_name(name)) forwarded.push_back(name);
  }
  const auto here = input.driver_host.facts.list("environment.secrets");
  const bool in_pbs = text_of(input.driver_host, "environment.PBS_JOBID").has_value();
  if (forwarded.empty()) {
    return pass(here.empty() ? "none in sight"
                             : fmt::format("{} in the environment, not exported to the ranks",
                                           here.size() == 1 ? std::string(here[0])
                                                            : fmt::format("{} names", here.size())));
  }
  CheckResult result = warn(
      fmt::format("-x {}", join(forwarded, " -x ")), "no secret in the environment of ranks",
      "every process of the job on every host holds it, it is readable in /proc/PID/environ for your user, "
      "and logs of the environment show it",
      {{"umask 077; mkdir -p ~/.secrets; printf %s \"$" + forwarded[0] + "\" > ~/.secrets/" + forwarded[0]},
       false,
       true,
       fmt::format("then leave out -x {} and let the program read the file of mode 600", forwarded[0])});
  // ddlrun.yaml names what its job exports: the user's decision, and no reason to end the job.
  if (in_pbs && !input.job.of_submit) {
    result.verdict = Verdict::fail;
    result.why = "in a PBS job it is also in Variable_List, which qstat -f shows to everybody";
  }
  return result;
}

std::vector<Finding> check_secrets(const CheckInput& input) {
  return single_finding("SEC-01", evaluate_secrets(input));
}

}  // namespace

std::span<const Check> setting_checks() {
  static constexpr std::array<Check, 2> table{{
      {"MPI-07", "leftover settings", Level::quick, Place::host,
       "A forgotten variable or parameter file on one host makes its ranks choose another transport than the "
       "rest.",
       "OMPI_MCA_*, NCCL_*, UCX_*, I_MPI_*, LD_PRELOAD and the like in the environment of each host, "
       "~/.openmpi/mca-params.conf and the installation's own file. pass: alike on all hosts; warn: NCCL_*, "
       "UCX_* and others set on the driver host only and not exported; fail: hosts differ.",
       "Remove it, or set it for all: --mca, -x.", check_mpi_settings},
      {"SEC-01", "secrets in the job's environment", Level::quick, Place::driver_host,
       "What is exported to ranks lies readable in many places.",
       "Names after -x that look like secrets, as HF_TOKEN, DB_PASSWORD, WANDB_API_KEY; values are never "
       "read. pass: none; warn: exported; fail: exported from inside a PBS job that ddlrun did not submit.",
       "Leave it out; a file of mode 600 that the program reads.", check_secrets},
  }};
  return table;
}

}  // namespace ddlrun::doctor
