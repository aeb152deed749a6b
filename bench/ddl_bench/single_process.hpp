// SPDX-License-Identifier: MIT
#pragma once

#include "bench/ddl_bench/mpi_module.hpp"

#include <string>

namespace ddlrun::ddl_bench {

// One rank that no launcher started, on a machine without MPI. `obstacle`: why there is none.
const MpiModule& single_process_module(std::string obstacle);

}  // namespace ddlrun::ddl_bench
