// SPDX-License-Identifier: MIT
// Which MPI a non-interactive shell of this host finds. No program is run if a library contains the version.
//   mpi.program.NAME     path of mpirun, orted, prted, hydra_pmi_proxy, hydra_bstrap_proxy as PATH finds it;
//                        not known where it is not there
//   mpi.real.NAME        the file behind the links
//   mpi.search_path      PATH
//   mpi.vendor           "Open MPI", "Intel MPI", "MPICH", "other"
//   mpi.version          of mpirun, else of orted: "4.1.4"
//   mpi.version_source   the library, or the command that was asked
//   mpi.daemon_version   of orted (Open MPI's own number) or prted (PRRTE's), if a library contains it
//   mpi.parameter_files  lines "FILE: NAME = VALUE" of the files of MCA parameters, at most 64
//   mpi.cuda_support     "true", "false"; level full, and only where there is an NVIDIA device
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "doctor/gather/software.hpp"
#include "doctor/parse/open_mpi.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_library_bytes = 32u << 20;
constexpr std::size_t most_parameters = 64;
constexpr std::array<const char*, 5> programs{"mpirun", "orted", "prted", "hydra_pmi_proxy",
                                              "hydra_bstrap_proxy"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The "4.1.4", "5.0.0rc12" that stands at `at`, or "".
std::string version_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  int dots = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end > at)))
    dots += text[end++] == '.';
  if (dots != 2 || end == at || text[end - 1] == '.') return {};
  while (end < text.size() && end - at < 24 &&
         (is_digit(text[end]) || (text[end] >= 'a' && text[end] <= 'z')))
    ++end;
  return std::string(text.substr(at, end - at));
}

// A library of Open MPI holds its release as a text of its own: "v4.1.4" between two zero bytes.
std::string version_in_library(std::string_view bytes) {
  for (std::size_t at = bytes.find("\0v", 0, 2); at != std::string_view::npos;
       at = bytes.find("\0v", at + 1, 2)) {
    std::string version = version_at(bytes, at + 2);
    if (version.empty()) continue;
    const std::size_t end = at + 2 + version.size();
    if (end < bytes.size() && bytes[end] == '\0') return version;
  }
  return {};
}

struct Version {
  std::string text, source;
};

using KnownVersions = std::map<std::string, std::string>;  // by the library's path

Version version_by_library(const GatherContext& context, const LibraryTree& tree, KnownVersions& known) {
  for (const std::string_view wanted : {"libopen-pal", "libopen-rte", "libprrte", "libmpi."}) {
    for (const auto& [name, path] : tree.found) {
      if (!name.starts_with(wanted)) continue;
      const auto [at, is_new] = known.emplace(path, "");
      const auto bytes = is_new ? read_bytes(context, path, 0, most_library_bytes) : std::nullopt;
      if (bytes) at->second = version_in_library(*bytes);
      if (!at->second.empty()) return {at->second, path};
    }
  }
  return {};
}

// Run only if no library contains it: a script, a wrapper, another MPI.
Version version_by_asking(const GatherContext& context, const std::string& program) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(3);
  limits.output_bytes = 64u << 10;
  const ProcessResult result = context.system.processes.run({program, "--version"}, limits);
  if (!result.ok()) return {};
  const std::string_view start = std::string_view(result.out).substr(0, 400);
  for (std::size_t at = 0; at < start.size(); ++at) {
    if (!is_digit(start[at]) || (at > 0 && (is_digit(start[at - 1]) || start[at - 1] == '.'))) continue;
    std::string version = version_at(start, at);
    if (!version.empty()) return {version, program + " --version"};
  }
  return {};
}

Version find_version(const GatherContext& context, const std::string& program, KnownVersions& known) {
  Version version = version_by_library(context, find_libraries(context, real_path(context, program)), known);
  return version.text.empty() ? version_by_asking(context, program) : version;
}

std::string vendor_of(const GatherContext& context, const Facts& facts) {
  const std::string real(facts.text("mpi.real.mpirun").value_or(""));
  const std::string name = real.substr(real.rfind('/') + 1);
  if (real.find("/intel/") != std::string::npos || real.find("impi") != std::string::npos) return "Intel MPI";
  if (name.starts_with("mpiexec.hydra") || name.starts_with("mpiexec.mpich")) return "MPICH";
  const auto start = real.empty() ? std::nullopt : read_bytes(context, real, 0, 256);
  if (start && start->starts_with("#!") && start->find("I_MPI") != std::string::npos) return "Intel MPI";
  const bool has_daemon = facts.text("mpi.program.orted") || facts.text("mpi.program.prted");
  if (name == "orterun" || name == "prterun" || has_daemon) return "Open MPI";
  return real.empty() ? "" : "other";
}

void find_programs(const GatherContext& context, Facts& facts) {
  for (const char* name : programs) {
    const std::string path = find_in_path(context, name);
    if (path.empty()) {
      facts.set_unknown(fmt::format("mpi.program.{}", name), "not in PATH");
      continue;
    }
    facts.set(fmt::format("mpi.program.{}", name), path);
    facts.set(fmt::format("mpi.real.{}", name), real_path(context, path));
  }
}

void find_versions(const GatherContext& context, Facts& facts) {
  Version of_mpirun, of_daemon;
  KnownVersions known;
  if (const auto mpirun = facts.text("mpi.program.mpirun"))
    of_mpirun = find_version(context, std::string(*mpirun), known);
  // mpirun 5 starts prted, whatever orted of another release stands further on in PATH.
  const auto orted = facts.text("mpi.program.orted"), prted = facts.text("mpi.program.prted");
  const bool same_numbers = orted && !(prted && starts_prted(of_mpirun.text));
  if (const auto daemon = same_numbers ? orted : prted)
    of_daemon = find_version(context, std::string(*daemon), known);
  if (!of_daemon.text.empty()) facts.set("mpi.daemon_version", of_daemon.text);
  if (of_mpirun.text.empty() && same_numbers) of_mpirun = of_daemon;
  if (of_mpirun.text.empty()) {
    facts.set_unknown("mpi.version", facts.text("mpi.program.mpirun")
                                         ? "neither a library nor mpirun reported it"
                                         : "no mpirun in PATH");
    return;
  }
  facts.set("mpi.version", of_mpirun.text);
  facts.set("mpi.version_source", of_mpirun.source);
}

// /opt/ompi/bin/orterun -> /opt/ompi
std::string prefix_of(std::string_view real) {
  const auto bin = real.rfind("/bin/");
  return bin == std::string_view::npos ? std::string() : std::string(real.substr(0, bin));
}

void read_parameter_file(const GatherContext& context, const std::string& path,
                         std::vector<std::string>& lines) {
  const auto text = read_small(context, path);
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    const std::string_view setting = trim(line.substr(0, line.find('#')));
    if (!setting.empty() && lines.size() < most_parameters)
      lines.push_back(fmt::format("{}: {}", path, printable(setting)));
  }
}

void read_parameters(const GatherContext& context, Facts& facts) {
  std::vector<std::string> lines;
  const std::string home = context.kernel.identity().home;
  if (!home.empty()) read_parameter_file(context, home + "/.openmpi/mca-params.conf", lines);
  const std::string prefix = prefix_of(facts.text("mpi.real.mpirun").value_or(""));
  if (!prefix.empty()) {
    const std::string etc = prefix == "/usr" ? "/etc/openmpi" : prefix + "/etc";
    read_parameter_file(context, etc + "/openmpi-mca-params.conf", lines);
  }
  facts.set_list("mpi.parameter_files", lines);
}

}  // namespace

void gather_mpi(const GatherContext& context, Facts& facts) {
  facts.set("mpi.search_path", printable(job_variable(context, "PATH"), 2000));
  find_programs(context, facts);
  find_versions(context, facts);
  const std::string vendor = vendor_of(context, facts);
  if (vendor.empty()) {
    facts.set_unknown("mpi.vendor", "no MPI in PATH");
  } else {
    facts.set("mpi.vendor", vendor);
  }
  read_parameters(context, facts);
}

void gather_mpi_details(const GatherContext& context, Facts& facts) {
  if (!context.kernel.file_info(context.root + "/dev/nvidiactl", true)) {
    facts.set_unknown("mpi.cuda_support", "no NVIDIA device here");
    return;
  }
  const std::string info = find_in_path(context, "ompi_info");
  if (info.empty()) {
    facts.set_unknown("mpi.cuda_support", "no ompi_info in PATH");
    return;
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(10);
  limits.output_bytes = 8u << 20;
  const ProcessResult result = context.system.processes.run({info, "--parsable", "--all"}, limits);
  constexpr std::string_view key = "mpi_built_with_cuda_support:value:";
  const auto at = result.out.find(key);
  if (!result.ok() || at == std::string::npos) {
    facts.set_unknown("mpi.cuda_support", "ompi_info does not report it");
    return;
  }
  const bool yes = std::string_view(result.out).substr(at + key.size()).starts_with("true");
  facts.set("mpi.cuda_support", yes ? "true" : "false");
}

}  // namespace ddlrun::doctor
