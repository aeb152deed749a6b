// SPDX-License-Identifier: MIT
// The shared libraries of the program that is to be launched, read from its file; it is not run.
#pragma once

#include "base/os/system.hpp"
#include "launch/launchers/srun.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

struct ProgramLibraries {
  bool known = false;              // false: a script, an interpreter, a wrapper, a static program
  bool complete = true;            // false: some were not found here, and what they need is not known
  std::vector<std::string> names;  // its own and theirs, also those not found
  bool has_libddl = false;  // in itself or in a library: it loads the MPI of the launcher that starts it
};

ProgramLibraries read_program_libraries(System& system, const Command& program);
// Of the mpi4py that the program's Python would import: that Python is asked where it lies, no MPI is
// started. Of the working directory it imports only what the program itself would.
ProgramLibraries read_mpi4py_libraries(System& system, const Command& program);

ProgramMpi find_program_mpi(const ProgramLibraries& libraries);

// What starts something else, which may bring any library.
bool is_launcher_of_others(std::string_view path);

}  // namespace ddlrun::launch
