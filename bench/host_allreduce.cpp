// SPDX-License-Identifier: MIT
// Sums of float32 within one host: shared memory, private memory and MPI_Allreduce in turn, so that what else
// the machine does hits all three. Microseconds, min and median over rounds.
//
//   mpirun -n 2 build/release/bench/host_allreduce [largest bytes] [fresh]
//
// "fresh": every rank writes its numbers anew before each call, outside the time: as a backward pass does.
// Without it a range that lies in shared memory stays in the cache of the rank that adds it up.
#include "ddl/node/node_collectives.hpp"
#include "ddl/transport/mpi/mpi_node_comm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

using Seconds = std::chrono::duration<double>;

struct Way {
  std::function<void()> call;
  std::function<void()> refill;
};

// Of `times` calls in a row, or of single ones with refills between; microseconds for one.
double time_of(const Way& way, int times, bool fresh) {
  Seconds all{};
  for (int i = 0; i < (fresh ? times : 1); ++i) {
    if (fresh) way.refill();
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < (fresh ? 1 : times); ++k) way.call();
    all += std::chrono::steady_clock::now() - begin;
  }
  return all.count() / times * 1e6;
}

// The slowest rank's time for one call, by round.
std::vector<std::vector<double>> measure(const std::vector<Way>& ways, int rounds, int times, bool fresh) {
  std::vector<std::vector<double>> all(ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      ways[way].call();
      const double mine = time_of(ways[way], times, fresh);
      double slowest = 0;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      all[way].push_back(slowest);
    }
  }
  for (auto& times_of_way : all) std::sort(times_of_way.begin(), times_of_way.end());
  return all;
}

void run(std::size_t most, bool fresh) {
  const auto group = ddl::make_mpi_node_comm(MPI_COMM_WORLD);
  ddl::NodeCollectives stage(*group, 60.0);
  const auto block = group->allocate(most);
  std::vector<std::byte*> parts;
  for (int r = 0; r < group->local_size(); ++r) parts.push_back(block->part(r).data());
  std::vector<float> data(most / 4, 1.0F);
  std::vector<float> in(most / 4, 1.0F);
  std::vector<float> out(most / 4, 0.0F);
  const bool prints = group->local_rank() == 0;
  if (prints) {
    fmt::print("{:>10} {:>17} {:>17} {:>17} {:>17} {:>7} {:>7} {:>7}\n", "bytes", "MPI min/median", "shared",
               "private", "update", "x shared", "median", "x priv");
  }
  std::uint64_t sequence = 0;
  for (std::size_t bytes = 4; bytes <= most; bytes *= 4) {
    const std::size_t count = bytes / 4;
    const ddl::SharedRange range{parts, count, ddl::DataType::float32};
    const ddl::Reduction average{ddl::DataType::float32, ddl::Operation::average, 1.0 / group->local_size()};
    auto* bytes_of_data = reinterpret_cast<std::byte*>(data.data());
    auto* own = reinterpret_cast<float*>(parts[static_cast<std::size_t>(group->local_rank())]);
    const auto nothing = [](const ddl::Slice&, const std::byte*) {};
    const auto refill_own = [&] { std::fill_n(own, count, 1.0F); };
    const std::vector<Way> ways{{[&] {
                                   MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT,
                                                 MPI_SUM, MPI_COMM_WORLD);
                                 },
                                 [&] { std::fill_n(in.data(), count, 1.0F); }},
                                {[&] {
                                   stage.all_reduce(range, average, {++sequence, bytes});
                                 },
                                 refill_own},
                                {[&] {
                                   stage.all_reduce(bytes_of_data, count, average, {++sequence, bytes});
                                 },
                                 [&] { std::fill_n(data.data(), count, 1.0F); }},
                                {[&] {
                                   stage.reduce_update(range, average, {++sequence, bytes}, nothing);
                                 },
                                 refill_own}};
    const int times = static_cast<int>(std::clamp<std::size_t>((8U << 20) / bytes, 1, 500));
    const auto found = measure(ways, bytes >= 16U << 20 ? 9 : 21, times, fresh);
    const auto cell = [&](std::size_t way) {
      return fmt::format("{:.2f}/{:.2f}", found[way].front(), found[way][found[way].size() / 2]);
    };
    const auto median = [&](std::size_t way) { return found[way][found[way].size() / 2]; };
    if (prints) {
      fmt::print("{:>10} {:>17} {:>17} {:>17} {:>17} {:>7.1f} {:>7.1f} {:>7.1f}\n", bytes, cell(0), cell(1),
                 cell(2), cell(3), found[0].front() / found[1].front(), median(0) / median(1),
                 found[0].front() / found[2].front());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 64U << 20, argc > 2);
  MPI_Finalize();
  return 0;
}
