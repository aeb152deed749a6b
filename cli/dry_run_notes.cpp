// SPDX-License-Identifier: MIT
#include "cli/dry_run_notes.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::cli {

using namespace schedulers;

std::string order_note(const topology::Dims& dims, topology::RankOrder order) {
  if (dims.host_count() == 1 || dims.gpus_per_node == 1) return {};
  if (order == topology::RankOrder::packed)
    return fmt::format("ddlrun: order: packed: ranks 0 to {} are on node 1, then node 2 is filled\n",
                       dims.gpus_per_node - 1);
  std::uint32_t host = 0;
  while (dims.rank_of(dims.coordinates(host, 0), order) != 1) ++host;
  return fmt::format("ddlrun: order: ddl: rank 1 is on node {}; --order packed fills node 1 first\n",
                     host + 1);
}

// sbatch(1): the directory of --output is not made, and slurmstepd of Slurm 22.05 and 24.11 ends the job when
// it cannot open the file. pbs_mom of OpenPBS and of Torque copies its file at the end of the job, when the
// script has made the directory.
std::string hand_in_note(const JobSpec& job, const PreparedJob& prepared, std::string_view scheduler) {
  Command submit = prepared.submit;
  std::ranges::replace(submit, prepared.dir.script(), std::string("job.sh"));
  const std::string make = render_shell(Command{"mkdir", "-p", prepared.dir.path}) + "\n";
  const bool has_own_script = job.script_template.empty();
  const std::string lead = "ddlrun: dry run, nothing is written; submit saves the script as job.sh, and runs";
  if (is_pbs_like(job.scheduler) && has_own_script)
    return fmt::format(
        "{} this. The script makes its directory {}, which {} needs at the job's end only:\n{}\n", lead,
        printable(prepared.dir.path, 400), scheduler, render_shell(submit));
  const std::string_view why = job.scheduler == SchedulerKind::slurm
                                   ? ". Without the directory of its output Slurm fails a job at once"
                                   : "";
  return fmt::format("{} these{}:\n{}{}\n", lead, why, make, render_shell(submit));
}

std::string foreign_paths_note(const JobSpec& job, const JobSettings& settings, std::string_view missing) {
  const auto is_named = [&](const std::string& key) {
    const auto found = settings.find(key);
    if (found == settings.end()) return false;
    const std::string& origin = found->second.origin;
    return origin != "the current directory" && origin != "this ddlrun";
  };
  std::vector<std::string> paths, options;
  if (!is_named("ddlrun") && job.ddlrun.starts_with('/')) {
    paths.push_back("its ddlrun " + printable(job.ddlrun, 200));
    options.emplace_back("--ddlrun PATH");
  }
  if (!is_named("workdir")) {
    paths.push_back("its working directory " + printable(job.workdir, 200));
    options.emplace_back("--workdir DIR");
  }
  if (paths.empty()) return {};
  return fmt::format("ddlrun: note: no {} here, and the script has of this host {}; {} {} of the cluster\n",
                     missing, join(paths, " and "), join(options, " and "),
                     paths.size() == 1 ? "names that" : "name those");
}

std::optional<Message> find_own_option(const std::string& command, std::span<const std::string_view> own,
                                       const Command& program) {
  for (std::size_t i = 1; i < program.size(); ++i) {
    if (std::ranges::find(own, std::string_view(program[i])) == own.end()) continue;
    return Message{
        fmt::format("{} behind '--' goes to the program, and is no option of {} there", program[i], command),
        "",
        fmt::format("{} {} ... -- {}   # if {} is meant", command, program[i],
                    printable(quote_shell(program[0]), 80), command)};
  }
  return std::nullopt;
}

}  // namespace ddlrun::cli
