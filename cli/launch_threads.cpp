// SPDX-License-Identifier: MIT
#include "cli/launch_threads.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/launch_program.hpp"
#include "doctor/gather/libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::cli {

namespace {

using affinity::OpenMpRuntime;
using affinity::ThreadRequest;

constexpr std::uint32_t most_threads = 4096;

// What starts something else, which may bring any runtime.
bool is_launcher_of_others(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  constexpr std::array<std::string_view, 18> names{"sh",      "bash", "dash", "ksh",  "zsh",   "env",
                                                   "perl",    "ruby", "java", "node", "julia", "numactl",
                                                   "taskset", "nice", "time", "gdb",  "nsys",  "strace"};
  const bool is_interpreter = name.starts_with("python") || name.starts_with("Rscript") || name == "R";
  const bool is_container = name == "apptainer" || name == "singularity";
  return is_interpreter || is_container || std::find(names.begin(), names.end(), name) != names.end();
}

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

OpenMpRuntime choose_runtime(System& system, const std::string& affinity, const Command& program) {
  if (affinity == "auto") return find_openmp_runtime(system, program);
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

std::uint32_t hardware_threads(const LaunchJob& job) {
  std::size_t most = 1;
  for (const launch::PlannedRank& rank : job.ranks) {
    if (rank.cores > 0) most = std::max(most, rank.pus.size() / static_cast<std::size_t>(rank.cores));
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace

OpenMpRuntime find_openmp_runtime(System& system, const Command& program) {
  std::string path = find_program(system, program[0]);
  if (path.empty() || system.kernel == nullptr || is_launcher_of_others(path)) return OpenMpRuntime::unknown;
  if (path.starts_with("./")) path.erase(0, 2);
  if (path[0] != '/') path = system.environment.working_folder + "/" + path;
  const doctor::Question question;
  const doctor::LibraryTree tree = doctor::find_libraries({system, *system.kernel, question, ""}, path);
  if (!tree.is_elf || tree.top.needed.empty()) return OpenMpRuntime::unknown;  // a script; a static program
  std::vector<std::string> names;
  for (const auto& [name, file] : tree.found) names.push_back(name);
  const OpenMpRuntime runtime = affinity::runtime_of(names);
  return runtime == OpenMpRuntime::none && !tree.missing.empty() ? OpenMpRuntime::unknown : runtime;
}

ThreadRequest plan_rank_threads(System& system, const LaunchOptions& options, LaunchJob& job,
                                const Command& program) {
  ThreadRequest request;
  request.threads = parse_threads(options.threads);
  request.runtime = choose_runtime(system, options.affinity, program);
  request.cores = static_cast<std::uint32_t>(std::max(0, job.fewest_cores()));
  request.most_cores = static_cast<std::uint32_t>(std::max(0, job.most_cores()));
  request.threads_per_core = hardware_threads(job);
  request.oversubscribed = request.threads > request.cores && request.cores > 0;
  request.verbose = options.show_threads;
  request.bound = is_bound(options.mpi_arguments);
  request.launcher = "open-mpi";
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
