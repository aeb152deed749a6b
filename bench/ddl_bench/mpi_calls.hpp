// SPDX-License-Identifier: MIT
// Inside ddl-bench's plug-ins for MPI: the parts of an MpiModule (mpi_module.hpp).
#pragma once

#include "bench/ddl_bench/mpi_module.hpp"

namespace ddlrun::ddl_bench {

std::unique_ptr<World> make_mpi_world();
MpiAllReduce mpi_all_reduce(ddl::DataType type, bool in_place);
LinkRate measure_mpi_link(const LinkPlace& place);
std::vector<std::unique_ptr<Case>> make_mpi_link_cases(const LinkPlace& place, std::size_t bytes);

}  // namespace ddlrun::ddl_bench
