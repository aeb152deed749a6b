// SPDX-License-Identifier: MIT
// What libddl knows of MPI: a plug-in for each MPI whose library has an ABI of its own, loaded when ranks
// that a launcher started connect by MPI. The sources of both are transport/mpi/.
//   libddl_mpi_openmpi.so  libmpi.so.40: Open MPI 3, 4 and 5
//   libddl_mpi_mpich.so    libmpi.so.12: MPICH 3.1 and newer, Intel MPI, MVAPICH2 (www.mpich.org/abi)
#pragma once

#include "ddl/core/own_plugin.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace ddl {

enum class MpiKind { open_mpi, mpich };

// The MPI of a job: `loaded` in this process, else in the order in which to try, by the launcher's variables.
// Open MPI's mpirun starts only Open MPI; PMI and PMIx are of several launchers and MPIs.
std::vector<MpiKind> order_mpi(std::optional<MpiKind> loaded,
                               const std::function<const char*(const char*)>& variable);

class MpiPlugin {
 public:
  virtual ~MpiPlugin() = default;
  // Starts MPI with MPI_THREAD_SERIALIZED unless the program has, and then ends it with the last of what it
  // made; a process that no launcher started, in a program that has not started MPI, is a single rank. Throws
  // Error: usage if MPI has been started with less, unsupported if this MPI is not the launcher's.
  virtual std::unique_ptr<Transport> make_transport(int& argc, char**& argv) const = 0;
  // Over a copy of a communicator of the program, which has started MPI. Throws Error(usage) if it has not,
  // or if this is no communicator for it.
  virtual std::unique_ptr<Transport> make_transport(const MpiComm& ranks) const = 0;
};

// The MPI whose library this process has loaded already.
std::optional<MpiKind> loaded_mpi();

// Loads the first MPI of order_mpi() whose library is there and whose plug-in, `plugin_of` it, is installed,
// and then that plug-in; returns its function. Throws Error(unsupported) with the library that is missing.
void* open_plugin_of_mpi(const std::function<OwnPlugin(MpiKind)>& plugin_of);
// libddl's own.
const MpiPlugin& load_mpi_plugin();

}  // namespace ddl

// Exported by a plug-in: ddl_mpi_build() must be the text that libddl has too.
#define DDL_MPI_BUILD DDL_VERSION " (" __VERSION__ ", MPI interface 3)"
