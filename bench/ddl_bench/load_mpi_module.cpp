// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/mpi_module.hpp"
#include "bench/ddl_bench/single_process.hpp"
#include "ddl/error.hpp"
#include "ddl/launcher.hpp"
#include "ddl/transport/mpi_plugin.hpp"

namespace ddlrun::ddl_bench {
namespace {

ddl::OwnPlugin plugin_of_bench(ddl::MpiKind kind) {
  return {kind == ddl::MpiKind::open_mpi ? "libddl_bench_openmpi.so" : "libddl_bench_mpich.so",
          "ddl-bench's plug-in for MPI",
          "ranks of this launcher need",
          "install a ddl-bench that was built with that MPI's development files; or another launcher: "
          "ddlrun bench allreduce --launcher openmpi",
          "ddl_bench_mpi_build",
          DDL_BENCH_MPI_BUILD,
          "ddl_bench_mpi_module"};
}

}  // namespace

const MpiModule& load_mpi_module() {
  try {
    return *reinterpret_cast<const MpiModule* (*)()>(ddl::open_plugin_of_mpi(plugin_of_bench))();
  } catch (const ddl::Error& error) {
    if (ddl::launched_rank()) throw;
    return single_process_module(error.what());
  }
}

}  // namespace ddlrun::ddl_bench
