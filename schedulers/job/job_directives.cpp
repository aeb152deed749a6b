// SPDX-License-Identifier: MIT
// Directives are passed on as they are, but not those that would change what ddlrun computed from a key: a
// scheduler takes the last of two, and the job would run in another shape than it was checked for.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

struct Rival {
  std::string_view option, key;
};

constexpr auto slurm_rivals = std::to_array<Rival>({
    {"--nodes", "dims"},
    {"-N", "dims"},
    {"--ntasks", "dims"},
    {"-n", "dims"},
    {"--ntasks-per-node", "dims"},
    {"--cpus-per-task", "threads"},
    {"-c", "threads"},
    {"--time", "walltime"},
    {"-t", "walltime"},
    {"--array", "array"},
    {"-a", "array"},
    {"--nodelist", "hosts"},
    {"-w", "hosts"},
    {"--output", "output"},
    {"-o", "output"},
    {"--error", "output"},
    {"-e", "output"},
    {"--chdir", "workdir"},
    {"-D", "workdir"},
    {"--signal", "signal"},
    {"--requeue", "requeue"},
    {"--no-requeue", "requeue"},
    {"--job-name", "name"},
    {"-J", "name"},
    {"--partition", "queue"},
    {"-p", "queue"},
});

constexpr auto pbs_rivals = std::to_array<Rival>({
    {"-N", "name"},
    {"-q", "queue"},
    {"-J", "array"},
    {"-t", "array"},
    {"-o", "output"},
    {"-e", "output"},
    {"-j", "output"},
    {"-k", "output"},
    {"-r", "requeue"},
});

constexpr auto pbs_resources = std::to_array<Rival>({
    {"select", "dims"},
    {"nodes", "dims"},
    {"ncpus", "cores_per_node"},
    {"walltime", "walltime"},
});

template <std::size_t count>
std::string_view key_of(const std::array<Rival, count>& rivals, std::string_view option) {
  const auto found =
      std::find_if(rivals.begin(), rivals.end(), [&](const Rival& rival) { return rival.option == option; });
  return found == rivals.end() ? std::string_view() : found->key;
}

// "--time=1h", "-t 5", "-t5" -> "--time", "-t", "-t"
std::string_view option_of(std::string_view directive) {
  if (directive.starts_with("--")) return directive.substr(0, directive.find_first_of("= "));
  return directive.substr(0, 2);
}

std::string_view rival_in_pbs(std::string_view directive) {
  const std::string_view option = option_of(directive);
  if (option != "-l") return key_of(pbs_rivals, option);
  for (const std::string_view resource : split(trim(directive.substr(2)), ',')) {
    const std::string_view key = key_of(pbs_resources, trim(resource.substr(0, resource.find('='))));
    if (!key.empty()) return key;
  }
  return {};
}

}  // namespace

void check_directives(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  for (const std::string& directive : job.directives) {
    const bool slurm = job.scheduler == SchedulerKind::slurm;
    const std::string_view key = job.scheduler == SchedulerKind::local ? std::string_view()
                                 : slurm ? key_of(slurm_rivals, option_of(directive))
                                         : rival_in_pbs(directive);
    if (key.empty()) continue;
    reader.add_error_at(
        fmt::format("directives '{}' would change the value of `{}`", printable(directive, 60), key),
        reader.origin_of("directives"), fmt::format("{}: ...   # instead of the directive", key));
  }
}

}  // namespace ddlrun::schedulers
