// SPDX-License-Identifier: MIT
#include "launch/plan/job_threads.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/rank/exports.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using affinity::OpenMpRuntime;
using affinity::ThreadRequest;

// --framework or the script decides; else the name in a path or an argument, for example
// tf_cnn_benchmarks.py.
bool is_tensorflow(frameworks::Framework framework, const Command& program) {
  using enum frameworks::Framework;
  if (framework == tensorflow || framework == tensorflow_ps) return true;
  return std::any_of(program.begin(), program.end(), [](std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return word.find("tensorflow") != std::string::npos || word.find("tf_cnn") != std::string::npos;
  });
}

OpenMpRuntime choose_runtime(AffinityMode affinity, const ProgramLibraries& libraries) {
  switch (affinity) {
    case AffinityMode::automatic:
      return find_openmp_runtime(libraries);
    case AffinityMode::libgomp:
      return OpenMpRuntime::libgomp;
    case AffinityMode::libomp:
      return OpenMpRuntime::libomp;
    case AffinityMode::off:
      break;
  }
  return OpenMpRuntime::none;
}

std::uint32_t hardware_threads(const JobPlan& job) {
  std::size_t most = 1;
  for (const PlannedRank& rank : job.ranks) {
    if (rank.cores > 0) most = std::max(most, rank.pus.size() / static_cast<std::size_t>(rank.cores));
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace

OpenMpRuntime find_openmp_runtime(const ProgramLibraries& libraries) {
  if (!libraries.known) return OpenMpRuntime::unknown;
  const OpenMpRuntime runtime = affinity::runtime_of(libraries.names);
  return runtime == OpenMpRuntime::none && !libraries.complete ? OpenMpRuntime::unknown : runtime;
}

ThreadRequest plan_rank_threads(const LaunchSpec& spec, LauncherKind launcher, const JobPlan& job,
                                const Command& program, const ProgramLibraries& libraries,
                                std::vector<std::string>& remarks) {
  ThreadRequest request;
  request.threads = spec.threads.threads;
  request.runtime = choose_runtime(spec.threads.affinity, libraries);
  request.cores = static_cast<std::uint32_t>(std::max(0, job.fewest_cores()));
  request.most_cores = static_cast<std::uint32_t>(std::max(0, job.most_cores()));
  request.room = static_cast<std::uint32_t>(job.room_for_cores());
  request.threads_per_core = hardware_threads(job);
  request.oversubscribed = request.threads > request.cores && request.cores > 0;
  request.verbose = spec.threads.show;
  const bool by_mpirun = launcher == LauncherKind::open_mpi;  // else by ddlrun exec, whatever is said
  request.bound = spec.placement.binds && !job.is_crowded();
  request.launcher = by_mpirun ? "open-mpi" : "exec";
  request.tensorflow =
      spec.threads.affinity != AffinityMode::off && is_tensorflow(spec.framework.framework, program);
  if (spec.threads.affinity == AffinityMode::automatic && request.runtime == OpenMpRuntime::unknown &&
      request.bound && request.cores > 1 && is_launcher_of_others(program[0]))
    remarks.push_back(
        "processes that a rank forks later (data loaders) inherit the core of the thread that forks them; "
        "with "
        "--affinity off they may use all cores of the rank");
  return request;
}

ExpectedThreads expect_threads(System& system, const LaunchSpec& spec, const ExpectedRanks& ranks,
                               const EnvVars& environment) {
  JobPlan job;
  for (const int cores : {ranks.fewest_cores, ranks.most_cores}) {
    PlannedRank rank;
    rank.cores = cores;
    rank.pus.resize(static_cast<std::size_t>(cores) * ranks.threads_per_core);
    job.ranks.push_back(std::move(rank));
  }
  const Command program = choose_program(system, spec.program, false).command;
  ExportRequest request;
  request.typed = spec.exports;
  request.fewest_cores = ranks.fewest_cores;
  request.most_cores = ranks.most_cores;
  std::vector<std::string> remarks;
  request.threads = plan_rank_threads(spec, LauncherKind::open_mpi, job, program,
                                      read_program_libraries(system, program), remarks);
  const Exports exports = plan_exports(request, environment);
  ExpectedThreads expected{request.threads->runtime, {}};
  for (const std::string& name : exports.names) {
    const std::string_view prefixes[] = {"OMP_", "KMP_", "GOMP_", "MKL_", "TF_NUM_"};
    if (std::ranges::none_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }))
      continue;
    for (const EnvVars* from : {&exports.set_by_us, &exports.set_by_user, &environment}) {
      if (const auto found = from->find(name); found != from->end()) {
        expected.variables.push_back(name + "=" + found->second);
        break;
      }
    }
  }
  return expected;
}

}  // namespace ddlrun::launch
