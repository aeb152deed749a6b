// SPDX-License-Identifier: MIT
// How the ranks of a program connect: over TCP where DDL_MASTER or Options::tcp says so, else by MPI, else
// alone.
#include "ddl/api/context_factory.hpp"
#include "ddl/collectives/tuning_cache.hpp"
#include "ddl/core/checks.hpp"
#include "ddl/core/environment.hpp"
#include "ddl/ddl.hpp"
#include "ddl/error.hpp"
#include "ddl/launcher.hpp"
#include "ddl/transport/mpi_plugin.hpp"
#include "ddl/transport/tcp/tcp_transport.hpp"

namespace ddl {
namespace {

Options with_environment(Options options) {
  const char* text = environment_variable("DDL_OPTIONS");
  if (text != nullptr) options = parse_options(text, std::move(options));
  check_timeout(options);
  options.cache_dir = choose_cache_dir(options.cache_dir);
  return options;
}

std::unique_ptr<Transport> make_transport(int& argc, char**& argv, const Options& options) {
  const auto inspector = find_tcp_bootstrap(options.tcp, environment_variable, launched_rank().has_value());
  if (!inspector) {
    if (!launched_rank() && !loaded_mpi()) return make_single_process_transport();
    return load_mpi_plugin().make_transport(argc, argv);
  }
  if (options.mode == Mode::mpi && inspector->size > 1)
    throw Error(Fault::usage,
                "mode m is MPI_Allreduce, and these ranks are connected without MPI (DDL_MASTER)", "-mode m",
                "-mode b, or mpirun and no DDL_MASTER");
  return inspector->size == 1 ? make_single_process_transport()
                              : make_tcp_transport(*inspector, options.timeout_seconds);
}

std::unique_ptr<Transport> make_transport_of(const MpiComm& ranks) {
  if (!loaded_mpi())
    throw Error(Fault::usage, "this process has loaded no MPI", "MPI",
                "MPI_Init_thread before the Context; a program that links libmpi as a shared library");
  return load_mpi_plugin().make_transport(ranks);
}

// Dims of the environment are those of the whole job.
Options with_environment_of(Options options, const Transport& transport) {
  std::string dims = options.dims;
  options = with_environment(std::move(options));
  if (launched_size().value_or(transport.size()) != transport.size()) options.dims = std::move(dims);
  return options;
}

auto make_impl_of(const MpiComm& ranks, Options options) {
  std::unique_ptr<Transport> transport = make_transport_of(ranks);
  const Options chosen = with_environment_of(std::move(options), *transport);
  return ContextFactory::make_impl(std::move(transport), chosen);
}

}  // namespace

Context::Context(const MpiComm& ranks, Options options) : Context(make_impl_of(ranks, std::move(options))) {}

Context::Context(int& argc, char**& argv, Options options)
    : Context(ContextFactory::make_impl(make_transport(argc, argv, with_environment(options)),
                                        with_environment(options))) {}

}  // namespace ddl
