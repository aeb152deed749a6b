// SPDX-License-Identifier: MIT
#include "ddl/transport/mpi/mpi_finalize.hpp"

#include "ddl/core/environment.hpp"
#include "ddl/transport/pmi_end.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace ddl {
namespace {

std::atomic<bool> has_ended_without_finalize = false;

// Sleeps while it waits: a rank that ends early leaves its core to the others.
void sleeping_barrier(MPI_Comm comm) {
  constexpr std::chrono::microseconds between_tests{100};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    std::this_thread::sleep_for(between_tests);
  }
}

// -1: MPI_Finalize is safe, or the launcher does not speak PMI-1.
int pmi_to_end_by() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const fd = environment_variable("PMI_FD");
  if (size == 1 || fd == nullptr || !may_hang_in_finalize(version.data())) return -1;
  return std::atoi(fd);  // NOLINT(cert-err34-c): as MPICH reads it
}

}  // namespace

void finalize_mpi() {
  if (const int fd = pmi_to_end_by(); fd >= 0) {
    // From here on MPI sends nothing that it still holds. After two barriers all connections stand, and the
    // messages of the third leave at once.
    for (int i = 0; i < 3; ++i) sleeping_barrier(MPI_COMM_WORLD);
    has_ended_without_finalize = end_pmi(fd);
  }
  if (!has_ended_without_finalize) MPI_Finalize();
}

void abort_mpi(int status) noexcept {
  // Hydra 4.0.2 ends its proxies at once, and loses what they have not read: seen on a busy host.
  constexpr std::chrono::milliseconds launcher_reads{200};
  std::this_thread::sleep_for(launcher_reads);
  MPI_Abort(MPI_COMM_WORLD, status);
}

bool is_mpi_over() {
  int over = 0;
  MPI_Finalized(&over);
  return over != 0 || has_ended_without_finalize;
}

}  // namespace ddl
