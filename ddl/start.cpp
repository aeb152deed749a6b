// SPDX-License-Identifier: MIT
// How the ranks of a program meet: over TCP where DDL_MASTER or Options::tcp says so, else by MPI, else
// alone.
#include "ddl/checks.hpp"
#include "ddl/ddl.hpp"
#include "ddl/error.hpp"
#include "ddl/explore_cache.hpp"
#include "ddl/launcher.hpp"
#include "ddl/mpi_ranks.hpp"
#include "ddl/tcp_ranks.hpp"

#include <cstdlib>

namespace ddl {
namespace {

const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
}

Options with_environment(Options options) {
  const char* text = variable("DDL_OPTIONS");
  if (text != nullptr) options = parse_options(text, std::move(options));
  check_timeout(options);
  options.cache_folder = choose_cache_folder(options.cache_folder);
  return options;
}

std::unique_ptr<Ranks> make_ranks(int& argc, char**& argv, const Options& options) {
  const auto roll = find_tcp_roll(options.tcp, variable, launched_rank().has_value());
  if (!roll) return make_mpi_ranks(argc, argv);
  if (options.mode == Mode::mpi && roll->size > 1)
    throw Error(Fault::usage, "mode m is MPI_Allreduce, and these ranks meet without MPI (DDL_MASTER)",
                "-mode m", "-mode b, or mpirun and no DDL_MASTER");
  return roll->size == 1 ? make_single_rank() : make_tcp_ranks(*roll, options.timeout_seconds);
}

}  // namespace

Context::Context(int& argc, char**& argv, Options options)
    : Context(make_ranks(argc, argv, with_environment(options)), with_environment(options)) {}

}  // namespace ddl
