// SPDX-License-Identifier: MIT
// Calls MPI itself while sums are under way, which takes MPI_THREAD_MULTIPLE.
#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    ddl::Context context(argc, argv);
    std::vector<float> gradient(1U << 18U, 1.0F);
    std::vector<double> mine(100, 1.0);
    std::vector<double> sums(100);
    for (int i = 0; i < 5; ++i) {
      ddl::Handle average = context.start_all_reduce(gradient, ddl::Operation::average);
      for (int k = 0; k < 3; ++k)
        MPI_Allreduce(mine.data(), sums.data(), 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      average.wait();
    }
    if (context.rank() == 0)
      std::printf("average %g, sum %g\n", static_cast<double>(gradient.back()), sums.back());
  }
  MPI_Finalize();
  return 0;
}
