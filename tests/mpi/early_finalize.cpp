// SPDX-License-Identifier: MIT
// Calls MPI_Finalize while its Context lives.
#include "ddl/ddl.hpp"

#include <mpi.h>

int main(int argc, char** argv) {
  const ddl::Context context(argc, argv);
  MPI_Finalize();
  return 0;
}
