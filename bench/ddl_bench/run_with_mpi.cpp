// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/run_with_mpi.hpp"

#include "base/text/error.hpp"
#include "ddl/error.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace ddlrun::ddl_bench {
namespace {

struct Failure {
  int status = 0;
  Message message;
};

// The exception in flight.
Failure describe_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return {exit_code(error.kind()), error.message()};
  } catch (const ddl::Error& error) {
    const bool usage = error.fault() == ddl::Fault::usage;
    return {exit_code(usage ? ErrorKind::usage : ErrorKind::request),
            {error.what(), error.where(), error.hint()}};
  } catch (const std::bad_alloc&) {
    return {exit_code(ErrorKind::request),
            {"the memory of this rank is used up", "", "--sizes 4:64M, or fewer --backends"}};
  } catch (const std::exception& error) {
    return {exit_code(ErrorKind::internal),
            {fmt::format("a bug in ddl-bench: {}", error.what()), "",
             "report it with this message and the command line"}};
  }
}

int print_failure(Failure failure, const World* world) {
  if (world != nullptr && world->size() > 1)
    failure.message.what = fmt::format("[rank {}] {}", world->rank(), failure.message.what);
  fmt::print(stderr, "{}", render_error("ddl-bench", failure.message));
  std::fflush(nullptr);
  return failure.status;
}

}  // namespace

int run_with_mpi(bool threads, const std::function<int(World&, const MpiModule&)>& work) {
  const MpiModule* mpi = nullptr;
  std::unique_ptr<World> world;
  try {
    mpi = &load_mpi_module();
    world = mpi->init(threads);
  } catch (...) {
    return print_failure(describe_exception(), nullptr);
  }
  int status = 0;
  try {
    status = work(*world, *mpi);
  } catch (...) {
    status = print_failure(describe_exception(), world.get());
    if (world->size() > 1) mpi->abort(status);
  }
  mpi->finalize();
  return status;
}

int refuse_on_all(World& world, int status, const std::string& message) {
  if (world.rank() == 0) fmt::print(stderr, "{}", message);
  std::fflush(nullptr);
  return status;
}

}  // namespace ddlrun::ddl_bench
