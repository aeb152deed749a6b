// SPDX-License-Identifier: MIT
#include "bench/against/mpi_installations.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ddlrun::bench_against {
namespace {

constexpr std::chrono::seconds version_limit{20};

// "mpirun (Open MPI) 4.1.4", "mpirun.openmpi (OpenRTE) 4.1.4", "mpirun (PRRTE) 3.0.11", or "HYDRA build
// details:" of MPICH with the version below it; Intel's first line names MPI. Nothing for a program that
// names none.
std::string version_of(const ProcessResult& result) {
  std::string first;
  for (const std::string_view line : split(result.out, '\n')) {
    const std::string_view words = trim(line);
    if (words.starts_with("Version:")) return "MPICH " + std::string(trim(words.substr(8)));
    if (first.empty()) first = words;
  }
  for (const std::string_view open_mpi : {"(Open MPI)", "(OpenRTE)"})
    if (const auto at = first.find(open_mpi); at != std::string::npos)
      return "Open MPI" + first.substr(at + open_mpi.size());
  const bool is_mpi = first.find("MPI") != std::string::npos || first.find("PRRTE") != std::string::npos;
  return is_mpi ? first : "";
}

std::string library_directory(System& system, const std::string& mpirun) {
  const std::string bin = mpirun.substr(0, mpirun.rfind('/'));
  if (bin == "/usr/bin" || bin == "/bin") return {};
  const std::string prefix = bin.substr(0, bin.rfind('/'));
  for (const char* below : {"/lib", "/lib/release", "/lib64"})
    for (const char* name : {"/libmpi.so.40", "/libmpi.so.12"})
      if (system.files.exists(prefix + below + name)) return prefix + below;
  return {};
}

std::vector<std::string> candidates(System& system) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& directory) {
    for (const char* name : {"mpirun", "mpirun.openmpi", "mpirun.mpich"}) {
      const std::string path = directory + "/" + name;
      if (directory.starts_with('/') && system.files.exists(path)) paths.push_back(path);
    }
  };
  const std::string intel(system.environment.get("I_MPI_ROOT"));
  if (!intel.empty()) add(intel + "/bin");
  const std::string path(system.environment.get("PATH"));
  for (const std::string_view directory : split(path, ':')) add(std::string(directory));
  return paths;
}

}  // namespace

std::vector<MpiInstallation> find_mpi_installations(System& system, std::string_view choice) {
  const bool all = choice == "all";
  std::vector<std::string> paths;
  if (all) paths = candidates(system);
  if (!all)
    for (const std::string_view path : split(choice, ',')) paths.emplace_back(path);
  std::vector<MpiInstallation> found;
  for (const std::string& path : paths) {
    const ProcessResult result = system.processes.run({path, "--version"}, {.timeout = version_limit});
    const std::string version = result.ok() ? version_of(result) : "";
    if (version.empty() && !all)
      throw Error(ErrorKind::usage, {fmt::format("'{}' is no mpirun", printable(path, 100)), "--against",
                                     "--against all, or the paths of mpirun, separated by commas"});
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const MpiInstallation& other) { return other.version == version; });
    if (version.empty() || (all && known)) continue;
    found.push_back({path, version, library_directory(system, path)});
  }
  if (found.empty())
    throw Error(ErrorKind::request, {"no mpirun was found", "PATH and I_MPI_ROOT",
                                     "apt-get install openmpi-bin mpich, or module load a site's MPI"});
  return found;
}

}  // namespace ddlrun::bench_against
