// SPDX-License-Identifier: MIT
// Contexts over communicators of a program that starts MPI itself, several at a time, in C++ and in C; and
// what is no communicator for one. With the argument "single" MPI is started for one thread.
#include "ddl/ddl_mpi.h"
#include "ddl/ddl_mpi.hpp"

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

int failures = 0;

void require(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("wrong: %s; the last message: %s\n", what, ddl_last_error());
}

int sum_in(ddl::Context& context, int number) {
  std::vector<std::int32_t> values(1000, number);
  context.all_reduce(values, ddl::Operation::sum);
  return values.back();
}

std::ptrdiff_t threads_here() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

bool is_refused(MPI_Comm comm, const std::string& what) {
  try {
    const ddl::Context context(ddl::mpi_comm(comm));
  } catch (const ddl::Error& error) {
    return error.fault() == ddl::Fault::usage && error.what() == what;
  }
  return false;
}

void check_contexts(int rank, int size) {
  const int color = rank % 2;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &comm);  // the last rank first
  std::optional<ddl::Context> half(std::in_place, ddl::mpi_comm(comm));
  MPI_Comm_free(&comm);
  ddl::Context all(ddl::mpi_comm(MPI_COMM_WORLD));
  const int others = (size + 1 - color) / 2;
  require(all.rank() == rank && all.size() == size, "the ranks of MPI_COMM_WORLD");
  require(half->size() == others && half->rank() == others - 1 - rank / 2, "the ranks of half of it");
  for (int i = 0; i < 10; ++i) {
    require(sum_in(*half, 1) == others, "a sum of half of the ranks");
    require(sum_in(all, 1) == size, "a sum of all ranks");
  }
  std::vector<float> values(100'000, 1.0F);
  std::vector<float> more = values;
  ddl::Handle some = half->start_all_reduce(values, ddl::Operation::sum);
  const auto threads = threads_here();
  ddl::Handle every = all.start_all_reduce(more, ddl::Operation::sum);
  require(others == 1 || threads_here() == threads,
          "one communication thread where MPI takes one thread at a time");
  half->barrier();  // waits for what is started in any Context
  require(some.done() && every.done() && more.back() == static_cast<float>(size),
          "started sums of two Contexts");
  std::optional<ddl::Context> first = half->split(half->rank() == 0 ? std::optional(0) : std::nullopt);
  require(first.has_value() == (half->rank() == 0), "a group of a Context over a communicator");
  if (first) require(sum_in(*first, 3) == 3, "a sum in it");
  half.reset();
  require(sum_in(all, 2) == 2 * size, "a sum of all ranks after the end of the other Context");
}

void check_c(int rank, int size) {
  ddl_context* all = nullptr;
  ddl_context* group = nullptr;
  require(ddl_init_mpi(MPI_COMM_WORLD, "-timeout 20", &all) == 0 && ddl_size(all) == size, "ddl_init_mpi");
  require(ddl_split(all, rank == 0 ? DDL_NO_GROUP : 3, -rank, &group) == 0, "ddl_split");
  require((group == nullptr) == (rank == 0), "a rank without a group");
  require(group == nullptr || (ddl_rank(group) == size - 1 - rank && ddl_size(group) == size - 1),
          "its ranks");
  double one = 1;
  if (group != nullptr)
    require(ddl_all_reduce(group, &one, 1, DDL_FLOAT64, DDL_SUM) == 0 && one == size - 1, "a sum in a group");
  require(ddl_finalize(group) == 0, "the end of a group");
  require(ddl_split(all, -7, 0, &group) == DDL_ERROR_USAGE && group == nullptr, "a color below 0");
  require(ddl_split(nullptr, 0, 0, &group) == DDL_ERROR_USAGE, "no context");
  require(ddl_split(all, 0, 0, nullptr) == DDL_ERROR_USAGE, "nowhere to put the group");
  require(ddl_barrier(all) == 0 && ddl_finalize(all) == 0, "the end");
  require(ddl_init_mpi(MPI_COMM_NULL, nullptr, &all) == DDL_ERROR_USAGE && all == nullptr, "MPI_COMM_NULL");
  require(ddl_init_comm(&one, 2, nullptr, &all) == DDL_ERROR_USAGE, "a handle of two bytes");
  require(
      std::string(ddl_last_error()).starts_with("an MPI_Comm of 2 bytes, where the MPI of this process has "),
      "what is said of it");
  require(ddl_init_comm(&one, 9, nullptr, &all) == DDL_ERROR_USAGE, "a handle of nine bytes");
}

}  // namespace

int main(int argc, char** argv) {
  require(is_refused(MPI_COMM_WORLD, "MPI has not started in this process"), "before MPI_Init");
  int provided = 0;
  const bool is_single = argc > 1 && std::string(argv[1]) == "single";
  MPI_Init_thread(&argc, &argv, is_single ? MPI_THREAD_SINGLE : MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is_single) {
    require(provided >= MPI_THREAD_SERIALIZED ||
                is_refused(MPI_COMM_WORLD,
                           "MPI was started for one thread only; sums are made by a thread of their own"),
            "one thread only");
  } else {
    check_contexts(rank, size);
    check_c(rank, size);
    require(is_refused(MPI_COMM_NULL, "the communicator is MPI_COMM_NULL"), "MPI_COMM_NULL in C++");
    if (size > 1) {
      MPI_Comm half = MPI_COMM_NULL;
      MPI_Comm between = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
      MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
      require(is_refused(between, "this is an intercommunicator"), "an intercommunicator");
      MPI_Comm_free(&between);
      MPI_Comm_free(&half);
    }
  }
  MPI_Finalize();
  require(is_refused(MPI_COMM_WORLD, "MPI has ended in this process"), "after MPI_Finalize");
  if (rank == 0 && failures == 0) std::printf("all communicators are right\n");
  return failures == 0 ? 0 : 1;
}
