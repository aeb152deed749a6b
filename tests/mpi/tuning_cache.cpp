// SPDX-License-Identifier: MIT
// explore_cache SUMS: so many sums of one size in mode p; rank 0 prints how many of them MPI made.
#include "ddl/ddl.hpp"
#include "tests/mpi/counted_sums.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  try {
    ddl::Options options;
    options.mode = ddl::Mode::explore;
    ddl::Context ddl(argc, argv, options);
    std::vector<float> values(2000, 1.0F);
    const int before = sums_by_mpi;
    const int sums = argc > 1 ? std::atoi(argv[1]) : 30;
    for (int i = 0; i < sums; ++i) ddl.all_reduce(ddl::tensor(std::span(values)), ddl::Operation::max);
    if (ddl.rank() == 0) std::printf("%d of %d sums by MPI\n", sums_by_mpi - before, sums);
  } catch (const ddl::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
