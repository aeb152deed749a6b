// SPDX-License-Identifier: MIT
#include "launch/plan/linked_libraries.hpp"

#include "base/os/program_path.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/libraries.hpp"
#include "launch/frameworks/detect.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::launch {

// Python puts the working directory in front for -c, but that of the script for a script. -P, which leaves it
// out, exists from Python 3.11 on. `sys` is built in: its import reads no directory.
constexpr std::string_view where_mpi4py_lies =
    "import sys; sys.path[:1] = [d for d in sys.path[:1] if d] + sys.argv[1:]\n"
    "import importlib.util as u; found = u.find_spec('mpi4py.MPI'); print(found.origin if found else '')";
constexpr std::chrono::seconds longest_python_start{10};

bool is_launcher_of_others(std::string_view path) {
  const std::string_view name = base_name(path);
  constexpr std::array<std::string_view, 6> interpreters{"perl", "ruby", "java", "node", "julia", "R"};
  return is_python(path) || is_shell(path) || starts_another(path) || name.starts_with("Rscript") ||
         std::ranges::find(interpreters, name) != interpreters.end();
}

namespace {

ProgramLibraries read_file_libraries(System& system, std::string path) {
  if (path.empty() || system.kernel == nullptr) return {};
  if (path.starts_with("./")) path.erase(0, 2);
  path = system.environment.absolute(path);
  const doctor::ProbeRequest request;
  const doctor::LibraryTree tree = doctor::find_libraries({system, *system.kernel, request, ""}, path);
  if (!tree.is_elf || tree.top.needed.empty()) return {};
  ProgramLibraries libraries{true, tree.missing.empty(), {}};
  for (const auto& [name, file] : tree.found) libraries.names.push_back(name);
  for (const doctor::MissingLibrary& missing : tree.missing) libraries.names.push_back(missing.name);
  libraries.has_libddl = std::any_of(libraries.names.begin(), libraries.names.end(),
                                     [](const std::string& name) { return name.starts_with("libddl.so"); });
  return libraries;
}

}  // namespace

ProgramLibraries read_program_libraries(System& system, const Command& program) {
  const std::string path = find_program(system, program[0]);
  if (is_launcher_of_others(path)) return {};
  ProgramLibraries libraries = read_file_libraries(system, path);
  libraries.has_libddl = libraries.has_libddl || base_name(path) == "ddl-train";
  return libraries;
}

ProgramLibraries read_mpi4py_libraries(System& system, const Command& program) {
  if (!is_python(program[0])) return {};
  const auto script = find_script(program);  // none of "python -m module", which reads the working directory
  const std::string& workdir = system.environment.workdir;
  const std::string first = script ? system.environment.absolute(directory_of(program[*script])) : workdir;
  ProcessLimits limits;
  limits.timeout = longest_python_start;
  const ProcessResult asked =
      system.processes.run({program[0], "-c", std::string(where_mpi4py_lies), first}, limits);
  const std::string path(trim(asked.out));
  return asked.exit_status == 0 && path.starts_with('/') ? read_file_libraries(system, path)
                                                         : ProgramLibraries();
}

ProgramMpi find_program_mpi(const ProgramLibraries& libraries) {
  if (!libraries.known) return ProgramMpi::unknown;
  const ProgramMpi mpi = mpi_of(libraries.names);
  const bool may_load_one = !libraries.complete || libraries.has_libddl;
  return mpi == ProgramMpi::none && may_load_one ? ProgramMpi::unknown : mpi;
}

}  // namespace ddlrun::launch
