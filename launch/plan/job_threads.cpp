// SPDX-License-Identifier: MIT
#include "launch/plan/job_threads.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::cli {

namespace {

using affinity::OpenMpRuntime;
using affinity::ThreadRequest;

constexpr std::uint32_t most_threads = 4096;

bool speaks_of_tensorflow(const Command& program) {
  return std::any_of(program.begin(), program.end(), [](std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return word.find("tensorflow") != std::string::npos || word.find("tf_cnn") != std::string::npos;
  });
}

std::uint32_t parse_threads(const std::string& text) {
  if (text.empty()) return 0;
  const auto number = parse_unsigned(text, most_threads);
  if (number && *number > 0) return static_cast<std::uint32_t>(*number);
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not a number of threads from 1 to {}", printable(text, 40), most_threads),
               "--threads", "--threads 4, or leave it out: one for each core of a rank"});
}

OpenMpRuntime choose_runtime(const std::string& affinity, const ProgramLibraries& libraries) {
  if (affinity == "auto") return find_openmp_runtime(libraries);
  if (affinity == "off") return OpenMpRuntime::none;
  if (affinity == "libgomp") return OpenMpRuntime::libgomp;
  if (affinity == "libomp") return OpenMpRuntime::libomp;
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is none of auto, off, libgomp, libomp", printable(affinity, 40)),
               "--affinity", "--affinity off, or leave it out: the program's own libraries decide"});
}

bool is_bound(const std::vector<std::string>& mpi_arguments) {
  for (std::size_t i = 0; i + 1 < mpi_arguments.size(); ++i) {
    const std::string& word = mpi_arguments[i];
    if ((word == "--bind-to" || word == "-bind-to") && mpi_arguments[i + 1] == "none") return false;
  }
  return true;
}

std::uint32_t hardware_threads(const JobPlan& job) {
  std::size_t most = 1;
  for (const launch::PlannedRank& rank : job.ranks) {
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

ThreadRequest plan_rank_threads(const LaunchOptions& options, launch::LauncherKind launcher, JobPlan& job,
                                const Command& program, const ProgramLibraries& libraries) {
  ThreadRequest request;
  request.threads = parse_threads(options.threads);
  request.runtime = choose_runtime(options.affinity, libraries);
  request.cores = static_cast<std::uint32_t>(std::max(0, job.fewest_cores()));
  request.most_cores = static_cast<std::uint32_t>(std::max(0, job.most_cores()));
  request.threads_per_core = hardware_threads(job);
  request.oversubscribed = request.threads > request.cores && request.cores > 0;
  request.verbose = options.show_threads;
  const bool by_mpirun = launcher == launch::LauncherKind::open_mpi;  // else by ddlrun exec, whatever is said
  request.bound = !by_mpirun || is_bound(options.mpi_arguments);
  request.launcher = by_mpirun ? "open-mpi" : "exec";
  request.tensorflow = options.affinity != "off" && speaks_of_tensorflow(program);
  if (options.affinity == "auto" && request.runtime == OpenMpRuntime::unknown && request.bound &&
      request.cores > 1 && is_launcher_of_others(program[0]))
    job.remarks.push_back(
        "processes that a rank forks later (data loaders) inherit the core of the thread that forks them; "
        "with "
        "--affinity off they may use all cores of the rank");
  return request;
}

}  // namespace ddlrun::cli
