// SPDX-License-Identifier: MIT
// What the link between hosts carries, by plain messages of MPI: in whole vectors, and as a stream of small
// ones, which some networks carry faster.
#include "bench/ddl_bench/mpi_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <thread>

namespace ddlrun::ddl_bench {
namespace {

constexpr std::size_t link_bytes = std::size_t{16} << 20U;
constexpr int link_turns = 5;
constexpr std::size_t max_link_part = std::size_t{1} << 30U;
// A stream: messages below the eager limits of MPI, so many under way each way.
constexpr std::size_t stream_part = std::size_t{32} << 10U;
constexpr std::size_t stream_window = 32;
constexpr std::size_t smallest_one_way = std::size_t{256} << 10U;
constexpr int stream_polls = 200;  // then the core is left: on a slow link the others and the kernel need it
constexpr std::chrono::microseconds stream_sleep{20};

void wait_for(std::array<MPI_Request, 2>& both) {
  for (int polls = 1;; ++polls) {
    int done = 0;
    MPI_Testall(2, both.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    if (polls > stream_polls) std::this_thread::sleep_for(stream_sleep);
  }
}

enum class Form : std::uint8_t { whole, stream };
struct Directions {
  bool sends = true;
  bool receives = true;
};

// Between each two neighbouring hosts, rank by rank.
class Exchange : public Case {
 public:
  Exchange(const LinkPlace& place, std::size_t bytes, Form form, bool one_way)
      : partner_(partner_of(place)),
        form_(form),
        go_(one_way ? Directions{place.host % 2 == 0, place.host % 2 != 0} : Directions{}),
        out_(bytes),
        in_(bytes) {}
  std::span<std::byte> input() override { return {}; }
  std::span<const std::byte> output() override { return {}; }
  void call() override {
    if (partner_ < 0) return;
    if (form_ == Form::stream)
      stream();
    else
      pass_whole();
    if (go_.sends && go_.receives) return;
    // The sender's time lasts until all has come: the receiver's clock may have started late.
    MPI_Sendrecv(nullptr, 0, MPI_BYTE, from(), tag, nullptr, 0, MPI_BYTE, to(), tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }

 private:
  static constexpr int tag = 7;

  int to() const { return go_.sends ? partner_ : MPI_PROC_NULL; }
  int from() const { return go_.receives ? partner_ : MPI_PROC_NULL; }

  void pass_whole() {
    for (std::size_t at = 0; at < out_.size(); at += max_link_part) {
      const int part = static_cast<int>(std::min(max_link_part, out_.size() - at));
      MPI_Sendrecv(out_.data() + at, part, MPI_BYTE, to(), tag, in_.data() + at, part, MPI_BYTE, from(), tag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }

  void stream() {
    std::array<std::array<MPI_Request, 2>, stream_window> under_backend;
    under_backend.fill({MPI_REQUEST_NULL, MPI_REQUEST_NULL});
    std::size_t turn = 0;
    for (std::size_t at = 0; at < out_.size(); at += stream_part, ++turn) {
      std::array<MPI_Request, 2>& both = under_backend[turn % stream_window];
      wait_for(both);
      const int part = static_cast<int>(std::min(stream_part, out_.size() - at));
      MPI_Irecv(in_.data() + at, part, MPI_BYTE, from(), tag, MPI_COMM_WORLD, &both[0]);
      MPI_Isend(out_.data() + at, part, MPI_BYTE, to(), tag, MPI_COMM_WORLD, &both[1]);
    }
    for (auto& both : under_backend) wait_for(both);
  }

  static int partner_of(const LinkPlace& place) {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int mine = place.host * place.local_ranks + place.local_rank;
    std::vector<int> places(static_cast<std::size_t>(size));
    MPI_Allgather(&mine, 1, MPI_INT, places.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const int host = place.host ^ 1;
    if (host >= place.hosts) return -1;
    const auto found = std::find(places.begin(), places.end(), host * place.local_ranks + place.local_rank);
    return found == places.end() ? -1 : static_cast<int>(found - places.begin());
  }

  int partner_;
  Form form_;
  Directions go_;
  std::vector<std::byte> out_, in_;
};

// Seconds of the slowest rank, the fastest turn of several.
double time_exchange(const LinkPlace& place, std::size_t bytes, Form form, bool one_way) {
  Exchange exchange(place, bytes, form, one_way);
  double least = 0.0;
  for (int turn = 0; turn <= link_turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    exchange.call();
    const double mine = MPI_Wtime() - start;
    double slowest = 0.0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (turn == 1 || (turn > 1 && slowest < least)) least = slowest;  // turn 0 opens the connections
  }
  return least;
}

double time_fastest(const LinkPlace& place, std::size_t bytes, bool one_way) {
  return std::min(time_exchange(place, bytes, Form::whole, one_way),
                  time_exchange(place, bytes, Form::stream, one_way));
}

}  // namespace

LinkRate measure_mpi_link(const LinkPlace& place) {
  const std::size_t each = link_bytes / static_cast<std::size_t>(place.local_ranks);
  const double bytes = static_cast<double>(each) * place.local_ranks;
  return {bytes / time_fastest(place, each, true), bytes / time_fastest(place, each, false)};
}

// One way alone takes a link that carries both backends at once as long, and is disturbed less.
std::vector<std::unique_ptr<Case>> make_mpi_link_cases(const LinkPlace& place, std::size_t bytes) {
  const auto hosts = static_cast<std::size_t>(place.hosts);
  const std::size_t each = 2 * (hosts - 1) * bytes / hosts / static_cast<std::size_t>(place.local_ranks);
  std::vector<std::unique_ptr<Case>> cases;
  cases.push_back(std::make_unique<Exchange>(place, each, Form::whole, false));
  if (each < smallest_one_way) return cases;
  for (const Form form : {Form::whole, Form::stream})
    cases.push_back(std::make_unique<Exchange>(place, each, form, true));
  return cases;
}

}  // namespace ddlrun::ddl_bench
