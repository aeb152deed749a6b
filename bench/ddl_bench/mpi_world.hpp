// SPDX-License-Identifier: MIT
// MPI: all ranks as a World, MPI_Allreduce as a backend, and the rate of the link between hosts.
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/results.hpp"
#include "bench/ddl_bench/world.hpp"

#include <functional>
#include <string>

namespace ddlrun::ddl_bench {

// Starts MPI, runs `work`, ends MPI; the status is that of `work`. An exception is printed by its
// rank, which then ends the whole job.
int run_with_mpi(const std::function<int(World&)>& work);
// The same message on all ranks: no rank waits for another.
int refuse_on_all(World& world, int status, const std::string& message);

std::string mpi_version();  // "Open MPI v4.1.4"
// float32, float64 and int32; nothing for other types. `in_place`: also the form that HAN of 4.1.4 crashes
// on.
std::optional<Backend> mpi_backend(ddl::DataType type, bool in_place);
// Where a rank is, as libddl counts; `local_ranks` alike on all hosts.
struct LinkPlace {
  int host = 0;
  int hosts = 1;
  int local_rank = 0;
  int local_ranks = 1;
};
// Between neighbouring hosts, all their ranks together; collective over all ranks. An odd host out stays
// idle.
LinkRate measure_link(const LinkPlace& place);
// What a sum of `bytes` must pass at least: 2(H-1)/H of them out of each host. Ways to pass them, the fastest
// is the limit.
std::vector<std::unique_ptr<Case>> make_link_cases(const LinkPlace& place, std::size_t bytes);

}  // namespace ddlrun::ddl_bench
