// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/mpi_calls.hpp"
#include "ddl/transport/mpi/mpi_gather.hpp"

#include <mpi.h>

namespace ddlrun::ddl_bench {
namespace {

class MpiWorld : public World {
 public:
  MpiWorld() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  std::vector<double> max_of(const std::vector<double>& mine) override {
    std::vector<double> most(mine.size());
    MPI_Allreduce(mine.data(), most.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    return most;
  }
  std::size_t sum_of(std::size_t mine) override {
    unsigned long long in = mine;
    unsigned long long out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return out;
  }
  std::vector<std::string> gather(const std::string& mine) override {
    return ddl::gather_strings(MPI_COMM_WORLD, mine);
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<World> make_mpi_world() { return std::make_unique<MpiWorld>(); }

}  // namespace ddlrun::ddl_bench
