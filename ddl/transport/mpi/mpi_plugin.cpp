// SPDX-License-Identifier: MIT
// libddl_mpi_*.so: what mpi_plugin.hpp promises. The functions of MPI are found in the library that libddl
// has loaded before; the plug-in itself requires none by name, for Debian's MPICH has another than Intel MPI.
#include "ddl/transport/mpi_plugin.hpp"

#include "ddl/transport/mpi/mpi_transport.hpp"

namespace ddl {
namespace {

class ThisMpi : public MpiPlugin {
 public:
  std::unique_ptr<Transport> make_transport(int& argc, char**& argv) const override {
    return make_mpi_transport(argc, argv);
  }
  std::unique_ptr<Transport> make_transport(const MpiComm& ranks) const override {
    return make_mpi_transport(ranks);
  }
};

}  // namespace
}  // namespace ddl

extern "C" {

const char* ddl_mpi_build() { return DDL_MPI_BUILD; }

const ddl::MpiPlugin* ddl_mpi_plugin() {
  static const ddl::ThisMpi plugin;
  return &plugin;
}

}  // extern "C"
