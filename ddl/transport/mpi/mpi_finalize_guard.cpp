// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_finalize_guard.hpp"

#include "ddl/transport/mpi/mpi_finalize.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <atomic>

namespace ddl {
namespace {

std::atomic<int> armed_guards = 0;

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF (MPI 3.1, 8.7.1), while MPI still works.
int refuse_early_finalize(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  if (armed_guards == 0) return MPI_SUCCESS;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fmt::print(stderr,
             "libddl: error: rank {} calls MPI_Finalize before its Context has ended\n"
             "  try: a block around the Context, {{ ddl::Context ddl(argc, argv); ... }}, and MPI_Finalize "
             "behind it\n",
             rank);
  abort_mpi(2);
  return MPI_SUCCESS;
}

}  // namespace

FinalizeGuard::FinalizeGuard() {
  ++armed_guards;
  // Once in a process: to set an attribute again deletes the one before it, as MPI_Finalize does.
  static const bool is_set = [] {
    int key = MPI_KEYVAL_INVALID;
    return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &refuse_early_finalize, &key, nullptr) ==
               MPI_SUCCESS &&
           MPI_Comm_set_attr(MPI_COMM_SELF, key, &armed_guards) == MPI_SUCCESS;
  }();
  static_cast<void>(is_set);
}

void FinalizeGuard::release() noexcept {
  if (armed_) --armed_guards;
  armed_ = false;
}

}  // namespace ddl
