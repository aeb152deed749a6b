// SPDX-License-Identifier: MIT
// A program that starts MPI itself and makes several Contexts, one after the other and two at a time, in C++
// and in C. With the argument "early" it calls MPI_Finalize while the last Context lives.
#include "ddl/ddl.h"
#include "ddl/ddl.hpp"

#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

float sum_of_ones(ddl::Context& context) {
  float one = 1;
  context.all_reduce(one, ddl::Operation::sum);
  return one;
}

float sum_of_ones_in_c(int& argc, char**& argv) {
  float one = 1;
  ddl_context* context = nullptr;
  if (ddl_init(&argc, &argv, nullptr, &context) != 0) return -1;
  if (ddl_all_reduce(context, &one, 1, DDL_FLOAT32, DDL_SUM) != 0) return -1;
  return ddl_finalize(context) == 0 ? one : -1;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  float sums = 0;
  for (int i = 0; i < 3; ++i) {
    {
      ddl::Context context(argc, argv);
      ddl::Context another(argc, argv);
      sums += sum_of_ones(context) + sum_of_ones(another);
    }
    sums += sum_of_ones_in_c(argc, argv);
  }
  {
    const ddl::Context last(argc, argv);
    if (last.rank() == 0) std::printf("sums of ones: %g\n", static_cast<double>(sums));
    std::fflush(stdout);
    if (argc > 1 && std::string(argv[1]) == "early") MPI_Finalize();
  }
  MPI_Finalize();
  return 0;
}
