// SPDX-License-Identifier: MIT
// PeerComms under mpirun; the hosts are made up: peer_messages DIMS ddl|packed sums|mismatch|lost
// Prints what it found on rank 0 ("ok ..."), or who was named; sums are compared with closed forms.
#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/mpi/mpi_peer_comm.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr double patience_seconds = 1.0;

struct World {
  int rank = 0;
  int size = 0;
};

// Host names by rank for dims of two or three factors.
std::vector<std::string> made_up_hosts(int size, int per_host, bool packed) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < size; ++rank) {
    hosts.push_back(fmt::format("h{}", packed ? rank / per_host : rank % (size / per_host)));
  }
  return hosts;
}

float held(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 5);
}

// What all ranks of `peers` hold at i, summed.
float expected(const std::vector<int>& peers, std::size_t i) {
  float sum = 0;
  for (const int rank : peers) sum += held(rank, i);
  return sum;
}

int failures_of(const World& world, ddl::PeerComms comms, const std::vector<int>& peers) {
  int failures = 0;
  ddl::Scratch scratch;
  for (const bool narrow : {false, true}) {
    for (const auto algorithm : {ddl::InterNodeAlgorithm::best, ddl::InterNodeAlgorithm::direct,
                                 ddl::InterNodeAlgorithm::ring, ddl::InterNodeAlgorithm::halving}) {
      for (const std::size_t count : {0u, 1u, 7u, 4099u, 100000u, (1u << 20) - 1, (1u << 20) + 1}) {
        std::vector<float> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = held(world.rank, i);
        ddl::InterNodeOptions options;
        options.algorithm = algorithm;
        if (narrow) options.wire_dtype = ddl::DataType::bfloat16;
        ddl::all_reduce(comms, {}, reinterpret_cast<std::byte*>(data.data()), count, options, scratch);
        for (std::size_t i = 0; i < count; ++i) failures += data[i] != expected(peers, i) ? 1 : 0;
      }
    }
  }
  ddl::barrier(comms, {});
  return failures;
}

// A message of more than one part (16 MiB) and a little.
int failures_of_broadcast(const ddl::Grid& grid, const World& world, ddl::PeerComms comms) {
  std::vector<std::byte> data((40 << 20) + 5, std::byte{0});
  const int last = static_cast<int>(grid.hosts.size()) - 1;
  const auto sent = [](std::size_t i) { return static_cast<std::byte>(i * 131 >> 3); };
  const bool is_root = grid.place(world.rank).host == last;
  for (std::size_t i = 0; i < data.size() && is_root; ++i) data[i] = sent(i);
  ddl::InterNodeOptions options;
  options.message_bytes = data.size();
  ddl::broadcast(comms, grid.position_of(last), data, options);
  int failures = 0;
  for (std::size_t i = 0; i < data.size(); ++i) failures += data[i] != sent(i) ? 1 : 0;
  return failures;
}

// The last rank calls with another count, or comes too late; every other rank says whom it blames.
std::string blamed(const World& world, ddl::PeerComms comms, const std::string& what) {
  const bool odd = world.rank == world.size - 1;
  std::vector<float> data(20000, 1);
  ddl::Scratch scratch(1 << 20);
  if (what == "lost" && odd) {
    std::this_thread::sleep_for(std::chrono::duration<double>(2.5 * patience_seconds));
    return "";
  }
  try {
    const std::size_t count = odd ? 19990 : 20000;
    ddl::all_reduce(comms, {}, reinterpret_cast<std::byte*>(data.data()), count, {}, scratch);
  } catch (const ddl::Error& error) {
    // The rank that threw first is silent then, so that the odd rank may run into the deadline.
    if (odd) return "";
    return fmt::format("{} {}", error.fault() == ddl::Fault::mismatch ? "mismatch" : "lost", error.where());
  }
  return "nothing";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  const std::string what = argv[3];
  const ddl::Grid grid =
      ddl::plan_grid(argv[1], made_up_hosts(world.size, argv[1][0] - '0', argv[2][0] == 'p'));
  int failures = 0;
  {
    const auto owned =
        ddl::make_mpi_level_comms(MPI_COMM_WORLD, grid, patience_seconds * (what == "sums" ? 30 : 1));
    std::vector<ddl::PeerComm*> comms;
    for (const auto& comm : owned) comms.push_back(comm.get());
    if (what == "sums") {
      std::vector<int> peers;  // the ranks of my local index, on all hosts
      for (const auto& host : grid.ranks_of)
        peers.push_back(host[static_cast<std::size_t>(grid.place(world.rank).local_rank)]);
      failures = failures_of(world, comms, peers) + failures_of_broadcast(grid, world, comms);
      if (failures > 0) fmt::print("rank {}: {} wrong numbers\n", world.rank, failures);
    } else {
      const std::string said = blamed(world, comms, what);
      if (!said.empty()) fmt::print("rank {}: {}\n", world.rank, said);
      std::fflush(stdout);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world.rank == 0 && what == "sums" && all == 0) fmt::print("ok {}\n", grid.text());
  MPI_Finalize();
  return all > 0 ? 1 : 0;
}
