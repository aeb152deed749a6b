// SPDX-License-Identifier: MIT
#include "bench/against/bench_against.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <map>

namespace ddlrun::bench_against {
namespace {

// "no MPI library for these ranks: ..." of "ddl-bench: error: no MPI ...".
std::string first_error(const ProcessResult& result) {
  constexpr std::string_view mark = ": error: ";
  for (const std::string_view line : split(result.err, '\n'))
    if (const auto at = line.find(mark); at != std::string_view::npos)
      return std::string(line.substr(at + mark.size()));
  return result.start_error.empty() ? fmt::format("status {}", result.exit_status) : result.start_error;
}

std::optional<SumsOfRun> find_sums(const ProcessResult& ended, const std::string& where) {
  try {
    return parse_sums(ended.out, where);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Command against_command(const Environment& environment, const AgainstRequest& request,
                        const MpiInstallation& mpi) {
  Command command = {environment.executable, "bench", "allreduce"};
  command.insert(command.end(), request.launch_words.begin(), request.launch_words.end());
  command.insert(command.end(), {"--mpirun", mpi.mpirun});
  if (!mpi.libraries.empty()) {
    const std::string rest(environment.get("LD_LIBRARY_PATH"));
    command.insert(command.end(),
                   {"-x", "LD_LIBRARY_PATH=" + mpi.libraries + (rest.empty() ? "" : ":" + rest)});
  }
  command.insert(command.end(), {"--json", "-", "--"});
  command.insert(command.end(), request.bench_words.begin(), request.bench_words.end());
  return command;
}

AgainstResult run_against(System& system, const AgainstRequest& request) {
  std::vector<std::optional<SumsOfRun>> best(request.installations.size());
  AgainstResult result;
  std::map<std::size_t, std::string> reasons;
  for (int round = 0; round < request.repeat; ++round) {
    for (std::size_t i = 0; i < best.size(); ++i) {
      const MpiInstallation& mpi = request.installations[i];
      if (reasons.contains(i)) continue;
      const Command command = against_command(system.environment, request, mpi);
      system.err(
          fmt::format("ddlrun: {} of {}: {} ...\n", static_cast<std::size_t>(round) * best.size() + i + 1,
                      best.size() * static_cast<std::size_t>(request.repeat), printable(mpi.version, 80)));
      const ProcessResult ended = system.processes.run(command, {});
      std::optional<SumsOfRun> run;
      // 1: elements were wrong, and the document counts them; or the launcher failed, and there is none.
      if (ended.exit_status == 0 || ended.exit_status == 1) run = find_sums(ended, render_shell(command));
      if (!run) {
        reasons[i] = printable(first_error(ended), 300);
        system.err(fmt::format("ddlrun: not measured: {}: {}\n", printable(mpi.mpirun), reasons[i]));
        continue;
      }
      if (best[i])
        keep_fastest(*best[i], *run);
      else
        best[i] = *run;
    }
  }
  for (const auto& [i, reason] : reasons)
    result.notes.push_back(fmt::format("not measured: {} ({}): {}",
                                       printable(request.installations[i].version, 80),
                                       printable(request.installations[i].mpirun), reason));
  for (std::optional<SumsOfRun>& run : best)
    if (run) result.runs.push_back(std::move(*run));
  if (result.runs.empty())
    throw Error(ErrorKind::request, {"no MPI could be measured", result.notes.front(),
                                     "ddlrun bench allreduce 2   # with the mpirun of PATH"});
  return result;
}

}  // namespace ddlrun::bench_against
