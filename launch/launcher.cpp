// SPDX-License-Identifier: MIT
#include "launch/launcher.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "launch/hydra.hpp"
#include "launch/line_builder.hpp"
#include "launch/open_mpi.hpp"
#include "launch/rank_setup.hpp"
#include "launch/srun.hpp"
#include "launch/ssh_start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

struct LauncherNames {
  LauncherKind kind;
  std::string_view name, title;
};

constexpr std::array<LauncherNames, 5> launcher_names{{
    {LauncherKind::open_mpi, "openmpi", "Open MPI"},
    {LauncherKind::mpich, "mpich", "MPICH"},
    {LauncherKind::intel_mpi, "intelmpi", "Intel MPI"},
    {LauncherKind::srun, "srun", "Slurm's srun"},
    {LauncherKind::ssh, "ssh", "ssh"},
}};

// Linux refuses longer ones, name, "=" and end included.
constexpr std::size_t longest_variable = 128u << 10;

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
  const bool any = !request.mca.empty() || !request.mpi_arguments.empty() || request.tag_output;
  if (!any) return;
  const char* option = !request.mca.empty() ? "--mca" : request.tag_output ? "--tag-output" : "--mpi-arg";
  throw Error(
      ErrorKind::usage,
      {fmt::format("{} is for mpirun, and these ranks are started over ssh", option), "--launcher ssh",
       request.tag_output ? "--output prefix" : "the same without it, or --launcher openmpi"});
}

}  // namespace

std::string_view name_of(LauncherKind kind) { return launcher_names[static_cast<std::size_t>(kind)].name; }
std::string_view title_of(LauncherKind kind) { return launcher_names[static_cast<std::size_t>(kind)].title; }

std::optional<LauncherKind> parse_launcher(std::string_view name) {
  for (const LauncherNames& one : launcher_names) {
    if (one.name == name) return one.kind;
  }
  return std::nullopt;
}

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

LaunchLine plan_launch_line(const LaunchRequest& request, const EnvVars& environment) {
  switch (request.kind) {
    case LauncherKind::mpich:
    case LauncherKind::intel_mpi:
      return plan_hydra_line(request, environment);
    case LauncherKind::srun:
      return plan_srun_line(request, environment);
    case LauncherKind::ssh:
      refuse_mpi_words(request);
      return plan_ssh_line({request.sheet.value_or(RankSheet()),
                            request.folder,
                            request.working_folder,
                            request.exports,
                            request.program,
                            "ssh",
                            {}});
    case LauncherKind::open_mpi:
      break;
  }
  return plan_open_mpi_line(request, environment);
}

std::string render_launch_line(const LaunchLine& line, const Exports& exports) {
  std::string text;
  for (const EnvVars* variables : {&exports.set_by_us, &line.own}) {
    for (const auto& [name, value] : *variables) text += name + "=" + quote_shell(value) + " ";
  }
  if (!line.sheet_path.empty())
    text += fmt::format("{}=\"$(cat {})\" ", sheet_variable, quote_shell(line.sheet_path));
  return text + render_shell(line.argv);
}

std::vector<std::string> find_library_variables(const EnvVars& environment,
                                                std::initializer_list<std::string_view> beginnings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment) {
    const bool is_one = std::any_of(beginnings.begin(), beginnings.end(),
                                    [&](std::string_view lead) { return name.starts_with(lead); });
    if (is_one) names.push_back(name);
  }
  return names;
}

LineBuilder::LineBuilder(const LaunchRequest& request)
    : request_(request), program_(request.program), names_(request.exports.names) {
  line_.environment = request.exports.set_by_us;
  for (const auto& [name, value] : request.exports.set_by_user) line_.environment[name] = value;
  if (request.sheet) take_sheet();
}

void LineBuilder::add(std::vector<std::string> words, std::string why) {
  line_.reasons.push_back({join(words, " "), std::move(why)});
  for (std::string& word : words) line_.argv.push_back(std::move(word));
}

void LineBuilder::set(const std::string& name, std::string value, std::string why) {
  line_.reasons.push_back({name + "=" + value, std::move(why)});
  line_.own[name] = value;
  line_.environment[name] = std::move(value);
}

void LineBuilder::add_asked(const std::vector<std::string>& words) {
  for (const std::string& word : words) add({word}, "you asked for it");
}

std::string LineBuilder::reason_of(const std::string& name) const {
  if (name == sheet_variable) return "what each rank is to get; ddlrun exec reads it";
  const auto& reasons = request_.exports.reasons;
  const auto reason = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const Reason& r) { return r.subject == "-x " + name; });
  return reason == reasons.end() ? "" : reason->why;
}

void LineBuilder::add_name_reasons() {
  for (const std::string& name : names_) line_.reasons.push_back({"  " + name, reason_of(name)});
}

void LineBuilder::take_sheet() {
  std::string text = render_rank_sheet(*request_.sheet);
  const std::string path = request_.folder + "/ranks.json";
  if (std::string_view(sheet_variable).size() + 1 + text.size() + 1 <= longest_variable) {
    program_.sheet = {"--sheet"};
    names_.emplace_back(sheet_variable);
    line_.environment[sheet_variable] = text;
    line_.sheet_path = path;
  } else {
    program_.sheet = {"--sheet-file", path};  // a folder that all hosts see, as homes mostly are
  }
  add_file(path, text + "\n");
}

LaunchLine LineBuilder::finish() && {
  const Command rank = plan_rank_command(program_);
  if (rank != program_.program)
    line_.reasons.push_back({fmt::format("{} exec", program_.ddlrun), wrapper_reason(program_)});
  line_.argv.insert(line_.argv.end(), rank.begin(), rank.end());
  return std::move(line_);
}

}  // namespace ddlrun::launch
