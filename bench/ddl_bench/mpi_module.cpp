// SPDX-License-Identifier: MIT
// libddl_bench_*.so: what mpi_module.hpp promises, by the MPI whose library has been loaded before.
#include "bench/ddl_bench/mpi_module.hpp"

#include "bench/ddl_bench/mpi_calls.hpp"
#include "ddl/transport/mpi/mpi_finalize.hpp"

#include <mpi.h>

#include <array>

namespace ddlrun::ddl_bench {
namespace {

class ThisMpi : public MpiModule {
 public:
  std::unique_ptr<World> init(bool threads) const override {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &provided);
    return make_mpi_world();
  }
  void finalize() const override { ddl::finalize_mpi(); }
  void abort(int status) const override { MPI_Abort(MPI_COMM_WORLD, status); }
  std::string version() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return text.data();
  }
  MpiAllReduce all_reduce(ddl::DataType type, bool in_place) const override {
    return mpi_all_reduce(type, in_place);
  }
  LinkRate measure_link(const LinkPlace& place) const override { return measure_mpi_link(place); }
  std::vector<std::unique_ptr<Case>> make_link_cases(const LinkPlace& place,
                                                     std::size_t bytes) const override {
    return make_mpi_link_cases(place, bytes);
  }
};

}  // namespace
}  // namespace ddlrun::ddl_bench

extern "C" {

const char* ddl_bench_mpi_build() { return DDL_BENCH_MPI_BUILD; }

const ddlrun::ddl_bench::MpiModule* ddl_bench_mpi_module() {
  static const ddlrun::ddl_bench::ThisMpi module;
  return &module;
}

}  // extern "C"
