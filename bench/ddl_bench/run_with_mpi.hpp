// SPDX-License-Identifier: MIT
// A run of all ranks under MPI, from its start to its end.
#pragma once

#include "bench/ddl_bench/mpi_module.hpp"

#include <functional>
#include <string>

namespace ddlrun::ddl_bench {

// Loads and starts MPI, runs `work`, ends MPI; the status is that of `work`. An exception is printed by its
// rank, which then ends the whole job. `threads`: MpiModule::init.
int run_with_mpi(bool threads, const std::function<int(World&, const MpiModule&)>& work);
// The same message on all ranks: no rank waits for another.
int refuse_on_all(World& world, int status, const std::string& message);

}  // namespace ddlrun::ddl_bench
