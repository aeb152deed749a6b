// SPDX-License-Identifier: MIT
// A program that starts MPI itself, then libddl.
#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int status = 0;
  try {
    const ddl::Context context(argc, argv);
    std::printf("ranks=%d\n", context.size());
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "own_mpi: error: %s\n", error.text().c_str());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
