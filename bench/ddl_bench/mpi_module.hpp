// SPDX-License-Identifier: MIT
// What ddl-bench calls of MPI: a plug-in for each MPI whose library has an ABI of its own, so that one
// program measures any of them. The sources of both are mpi_*.cpp; only they include MPI.
//   libddl_bench_openmpi.so  libmpi.so.40: Open MPI 3, 4 and 5
//   libddl_bench_mpich.so    libmpi.so.12: MPICH 3.1 and newer, Intel MPI, MVAPICH2
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/results.hpp"
#include "bench/ddl_bench/world.hpp"
#include "ddl/data_type.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::ddl_bench {

// Where a rank is, as libddl counts; `local_ranks` alike on all hosts.
struct LinkPlace {
  int host = 0;
  int hosts = 1;
  int local_rank = 0;
  int local_ranks = 1;
};

// Its sum, or why it has none: "MPI has no float16".
struct MpiAllReduce {
  std::optional<Backend> backend;
  std::string obstacle;
};

class MpiModule {
 public:
  virtual ~MpiModule() = default;

  // MPI_Init_thread; all ranks. `threads`: MPI_THREAD_MULTIPLE, else MPI_THREAD_SERIALIZED.
  virtual std::unique_ptr<World> init(bool threads) const = 0;
  virtual void finalize() const = 0;
  virtual void abort(int status) const = 0;
  virtual std::string version() const = 0;  // MPI_Get_library_version

  // `in_place`: also the form that HAN of Open MPI 4.1.4 crashes on.
  virtual MpiAllReduce all_reduce(ddl::DataType type, bool in_place) const = 0;
  // Between neighbouring hosts, all their ranks together; collective over all ranks. An odd host out stays
  // idle.
  virtual LinkRate measure_link(const LinkPlace& place) const = 0;
  // What a sum of `bytes` must pass at least: 2(H-1)/H of them out of each host. Ways to pass them, the
  // fastest is the limit.
  virtual std::vector<std::unique_ptr<Case>> make_link_cases(const LinkPlace& place,
                                                             std::size_t bytes) const = 0;
};

// The MPI that libddl chooses too: of the launcher, or loaded already. A process that no launcher started is
// a single rank where there is no MPI; else throws ddl::Error(unsupported).
const MpiModule& load_mpi_module();

}  // namespace ddlrun::ddl_bench

// Exported by a plug-in: ddl_bench_mpi_build() must be the text that ddl-bench has too.
#define DDL_BENCH_MPI_BUILD DDLRUN_VERSION " (" __VERSION__ ", ddl-bench's MPI interface 1)"
