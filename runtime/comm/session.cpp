// SPDX-License-Identifier: MIT
#include "runtime/comm/session.hpp"

#include "base/text/text.hpp"
#include "ddl/ddl.hpp"
#include "runtime/comm/ddl_communicator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace ddlrun::runtime {
namespace {

// How long ranks wait for one that is at work on something else, such as a large checkpoint; a rank whose
// process is gone is found out at once. DDL_OPTIONS="-timeout N" says otherwise.
constexpr double patience_seconds = 300.0;

// mpirun ends all ranks when the first exits with a failure: a rank that prints nothing exits after rank 0.
constexpr std::chrono::seconds silent_exit_delay{2};

// What DDL_OPTIONS says is laid over ours here already, for the trainer must know how sums are made.
ddl::Options ddl_options(const std::string& wire) {
  ddl::Options options;
  options.timeout_seconds = patience_seconds;
  options = ddl::parse_options("-wire " + wire, options);
  const char* text = std::getenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): before any thread
  return text == nullptr ? options : ddl::parse_options(text, options);
}

// Prints and ends all ranks; does not return where MPI started them.
int abort_job(std::string_view program, Communicator& ranks, ErrorKind kind, Message message) {
  if (ranks.size() > 1) message.what = fmt::format("[{}] {}", rank_name(ranks), message.what);
  fmt::print(stderr, "{}", render_error(program, message));
  std::fflush(nullptr);
  ranks.abort(exit_code(kind));  // it returns where ranks met without MPI: they see this one go
  return exit_code(kind);
}

int run_guarded(std::string_view program, Communicator& ranks,
                const std::function<void(Communicator&)>& work) {
  try {
    work(ranks);
  } catch (const CollectiveError& error) {
    if (ranks.rank() == 0) fmt::print(stderr, "{}", render_error(program, error.message()));
    std::fflush(nullptr);
    return exit_code(error.kind());
  } catch (const Error& error) {
    return abort_job(program, ranks, error.kind(), error.message());
  } catch (const std::bad_alloc&) {
    return abort_job(program, ranks, ErrorKind::request,
                     {"this rank is out of memory", "", "a smaller --batch-size, or fewer ranks per host"});
  } catch (const std::exception& error) {
    return abort_job(program, ranks, ErrorKind::internal,
                     {fmt::format("internal error in {}: {}", program, error.what()), "",
                      "report it with this message and the command line"});
  }
  return 0;
}

}  // namespace

std::optional<double> requested_timeout() {
  ddl::Options options;
  options.timeout_seconds = -1.0;
  const char* text = std::getenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): before any thread
  if (text != nullptr) options = ddl::parse_options(text, options);
  return options.timeout_seconds > 0.0 ? std::optional(options.timeout_seconds) : std::nullopt;
}

int run_session(std::string_view program, const std::optional<Error>& options_error,
                const std::function<void(Communicator&)>& work, const std::string& wire,
                ddl::StallWatch stall) {
  if (options_error && !launched_rank()) {
    fmt::print(stderr, "{}", render_error(program, options_error->message()));
    return exit_code(options_error->kind());
  }
  int argc = 0;
  char* none[] = {nullptr};
  char** argv = none;
  try {
    ddl::Options options = ddl_options(wire);
    options.stall = std::move(stall);
    ddl::Context context(argc, argv, options);
    DdlCommunicator ranks(context, options);
    return run_guarded(program, ranks, [&](Communicator& all) {
      run_collectively(all, [&] {
        if (options_error) throw Error(*options_error);
      });
      work(all);
    });
  } catch (const ddl::Error& error) {
    // The ranks cannot work together as they are: all know, and rank 0 reports it.
    if (launched_rank().value_or(0) == 0)
      fmt::print(stderr, "{}", render_error(program, convert_error(error).message()));
    else
      std::this_thread::sleep_for(silent_exit_delay);
    return exit_code(convert_error(error).kind());
  }
}

}  // namespace ddlrun::runtime
