// SPDX-License-Identifier: MIT
#include "runtime/mpi_session.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <numeric>

namespace ddlrun::runtime {
namespace {

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // Out of place: Open MPI 4.1's HAN component crashes on MPI_IN_PLACE (ompi#11473). A net's parameters are
  // limited so that the count fits an int.
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override {
    MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }

  void broadcast(std::span<float> data) override {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
  }

  std::vector<std::string> gather_all(const std::string& mine) override {
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> starts(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
    std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
    MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR,
                   MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < lengths.size(); ++r) {
      texts.push_back(all.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(lengths[r])));
    }
    return texts;
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

// Prints and ends all ranks; does not return.
int abort_job(std::string_view program, const Communicator& ranks, ErrorKind kind, Message message) {
  if (ranks.size() > 1) message.what = fmt::format("[{}] {}", rank_name(ranks), message.what);
  fmt::print(stderr, "{}", render_error(program, message));
  std::fflush(nullptr);
  if (ranks.size() == 1) {
    MPI_Finalize();
    return exit_code(kind);
  }
  MPI_Abort(MPI_COMM_WORLD, exit_code(kind));
  return exit_code(kind);
}

int run_guarded(std::string_view program, Communicator& ranks,
                const std::function<void(Communicator&)>& work) {
  try {
    work(ranks);
  } catch (const AgreedError& error) {
    if (ranks.rank() == 0) fmt::print(stderr, "{}", render_error(program, error.message()));
    std::fflush(nullptr);
    MPI_Finalize();
    return exit_code(error.kind());
  } catch (const Error& error) {
    return abort_job(program, ranks, error.kind(), error.message());
  } catch (const std::bad_alloc&) {
    return abort_job(
        program, ranks, ErrorKind::request,
        {"the memory of this rank is used up", "", "a smaller --batch-size, or fewer ranks per host"});
  } catch (const std::exception& error) {
    return abort_job(program, ranks, ErrorKind::internal,
                     {fmt::format("a bug in {}: {}", program, error.what()), "",
                      "report it with this message and the command line"});
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

int run_mpi_session(std::string_view program, const std::optional<Error>& mistake,
                    const std::function<void(Communicator&)>& work) {
  if (mistake && !launched_rank()) {
    fmt::print(stderr, "{}", render_error(program, mistake->message()));
    return exit_code(mistake->kind());
  }
  int provided = 0;
  // Only the main thread calls MPI; OpenMP threads compute.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MpiCommunicator ranks;
  return run_guarded(program, ranks, [&](Communicator& all) {
    run_agreed(all, [&] {
      if (mistake) throw Error(*mistake);
    });
    work(all);
  });
}

std::optional<int> launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value == nullptr) continue;
    if (const auto rank = parse_unsigned(value, INT32_MAX)) return static_cast<int>(*rank);
  }
  return std::nullopt;
}

}  // namespace ddlrun::runtime
