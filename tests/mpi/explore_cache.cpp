// SPDX-License-Identifier: MIT
// explore_cache SUMS: so many sums of one size in mode p; rank 0 prints how many of them MPI made. MPI counts
// itself: this MPI_Allreduce stands before the library's.
#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {
int calls = 0;
}

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  ++calls;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int main(int argc, char** argv) {
  try {
    ddl::Options options;
    options.mode = ddl::Mode::explore;
    ddl::Context ddl(argc, argv, options);
    std::vector<float> values(2000, 1.0F);
    const int before = calls;
    const int sums = argc > 1 ? std::atoi(argv[1]) : 30;
    for (int i = 0; i < sums; ++i) ddl.all_reduce(ddl::tensor(std::span(values)), ddl::Operation::max);
    if (ddl.rank() == 0) std::printf("%d of %d sums by MPI\n", calls - before, sums);
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
