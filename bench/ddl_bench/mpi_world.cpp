// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/mpi_world.hpp"

#include "base/text/error.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/mpi/mpi_gather.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <new>

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

int end_job(const World& world, int status, Message message) {
  if (world.size() > 1) message.what = fmt::format("[rank {}] {}", world.rank(), message.what);
  fmt::print(stderr, "{}", render_error("ddl-bench", message));
  std::fflush(nullptr);
  if (world.size() > 1) MPI_Abort(MPI_COMM_WORLD, status);
  return status;
}

int run_caught(World& world, const std::function<int(World&)>& work) {
  try {
    return work(world);
  } catch (const Error& error) {
    return end_job(world, exit_code(error.kind()), error.message());
  } catch (const ddl::Error& error) {
    const bool usage = error.fault() == ddl::Fault::usage;
    return end_job(world, exit_code(usage ? ErrorKind::usage : ErrorKind::request),
                   {error.what(), error.where(), error.hint()});
  } catch (const std::bad_alloc&) {
    return end_job(world, exit_code(ErrorKind::request),
                   {"the memory of this rank is used up", "", "--sizes 4:64M, or fewer --backends"});
  } catch (const std::exception& error) {
    return end_job(world, exit_code(ErrorKind::internal),
                   {fmt::format("a bug in ddl-bench: {}", error.what()), "",
                    "report it with this message and the command line"});
  }
}

}  // namespace

int run_with_mpi(const std::function<int(World&)>& work) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  MpiWorld world;
  const int status = run_caught(world, work);
  MPI_Finalize();
  return status;
}

int refuse_on_all(World& world, int status, const std::string& message) {
  if (world.rank() == 0) fmt::print(stderr, "{}", message);
  std::fflush(nullptr);
  return status;
}

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data());
  return version.substr(0, version.find_first_of(",\n"));
}

}  // namespace ddlrun::ddl_bench
