// SPDX-License-Identifier: MIT
// libddl's sums between hosts on a simulated network (SimGrid's SMPI): one rank a host, real messages,
// simulated time. Prints a line for each size and algorithm: BYTES ALGORITHM SECONDS ok|wrong|unchecked.
//   smpirun -no-privatize ... simulated_sum DIMS BYTES[,...] ALGORITHM[,...]
// All ranks are in one process and their globals are one. Of long vectors they share the memory, for
// thousands of copies do not fit in a machine: the time counts then, not the values.
#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/transport/mpi/mpi_peer_comm.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t longest_checked = 16 << 10;  // numbers; of more, the ranks share the memory

struct Memory {
  std::vector<float> data;
  std::vector<float> result;  // of MPI_Allreduce
  ddl::Scratch scratch;
};

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::stringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

// Nothing: the MPI's own MPI_Allreduce.
std::optional<ddl::InterNodeAlgorithm> algorithm_named(const std::string& name) {
  static const std::map<std::string, std::optional<ddl::InterNodeAlgorithm>> names{
      {"mpi", std::nullopt},
      {"best", ddl::InterNodeAlgorithm::best},
      {"direct", ddl::InterNodeAlgorithm::direct},
      {"ring", ddl::InterNodeAlgorithm::ring},
      {"halving", ddl::InterNodeAlgorithm::halving},
      {"gathered", ddl::InterNodeAlgorithm::gathered}};
  const auto found = names.find(name);
  if (found == names.end()) throw std::runtime_error("unknown algorithm " + name);
  return found->second;
}

// Small integers: every order of additions of up to 65,536 of them is exact in float32.
float held(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 5);
}

// What all ranks hold at i, in closed form: 3 * rank takes each value modulo 5 once in five ranks, 0+1+2+3+4
// = 10.
float expected(int ranks, std::size_t i) {
  float sum = static_cast<float>(ranks / 5 * 10);
  for (int rank = ranks / 5 * 5; rank < ranks; ++rank) sum += held(rank, i);
  return sum;
}

struct Measured {
  double seconds = 0;
  bool checked = false;
  bool wrong = false;
};

// All ranks make the same calls in turn, so memory that they share grows before any of them uses it.
void sum(ddl::PeerComms comms, const std::string& name, std::size_t count, Memory& memory) {
  ddl::InterNodeOptions options;
  if (const auto algorithm = algorithm_named(name)) {
    options.algorithm = *algorithm;
    ddl::all_reduce(comms, {}, reinterpret_cast<std::byte*>(memory.data.data()), count, options,
                    memory.scratch);
    if (count <= longest_checked) std::copy_n(memory.data.begin(), count, memory.result.begin());
    return;
  }
  MPI_Allreduce(memory.data.data(), memory.result.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
}

Measured measure(ddl::PeerComms comms, const std::string& name, std::size_t count, Memory& memory, int rank,
                 int ranks) {
  if (memory.data.size() < count) memory.data.resize(count);
  if (memory.result.size() < count) memory.result.resize(count);
  Measured measured;
  measured.checked = count <= longest_checked;
  for (std::size_t i = 0; i < count && measured.checked; ++i) memory.data[i] = held(rank, i);
  if (!algorithm_named(name)) sum(comms, name, count, memory);  // the first call makes communicators
  MPI_Barrier(MPI_COMM_WORLD);
  std::array<double, 3> most{MPI_Wtime(), 0, 0};
  sum(comms, name, count, memory);
  most[1] = MPI_Wtime();
  for (std::size_t i = 0; i < count && measured.checked; ++i)
    if (memory.result[i] != expected(ranks, i)) most[2] = 1;
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  measured.seconds = most[1] - most[0];
  measured.wrong = most[2] > 0;
  return measured;
}

// One rank a host. Nothing in it waits, so the first rank makes it for all.
ddl::Grid grid_of(const std::string& dims, int ranks) {
  std::vector<std::string> hosts;
  for (int host = 0; host < ranks; ++host) hosts.push_back("h" + std::to_string(host));
  return ddl::plan_grid(dims, hosts);
}

int run(const std::string& dims, const std::string& sizes, const std::string& algorithms) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  static Memory shared;
  Memory own;
  static const ddl::Grid grid = grid_of(dims, ranks);
  const auto owned = ddl::make_mpi_level_comms(MPI_COMM_WORLD, grid, 0, ddl::MpiWait::blocks);
  std::vector<ddl::PeerComm*> comms;
  for (const auto& comm : owned) comms.push_back(comm.get());
  bool all_right = true;
  for (const std::string& size : words_of(sizes)) {
    const std::size_t count = std::strtoull(size.c_str(), nullptr, 10) / sizeof(float);
    for (const std::string& name : words_of(algorithms)) {
      const Measured measured =
          measure(comms, name, count, count <= longest_checked ? own : shared, rank, ranks);
      all_right = all_right && !measured.wrong;
      if (rank != 0) continue;
      const char* values = !measured.checked ? "unchecked" : measured.wrong ? "wrong" : "ok";
      std::printf("%s %s %.9f %s\n", size.c_str(), name.c_str(), measured.seconds, values);
      std::fflush(stdout);
    }
  }
  return all_right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: simulated_sum DIMS BYTES[,...] ALGORITHM[,...]\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  const int status = run(argv[1], argv[2], argv[3]);
  MPI_Finalize();
  return status;
}
