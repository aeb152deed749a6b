// SPDX-License-Identifier: MIT
// The ranks of node_collectives.sh: sums through MPI's shared windows, compared with closed forms; or, with
// "away", a last rank that comes too late. Each rank prints one line.
#include "ddl/node/node_collectives.hpp"
#include "ddl/transport/mpi/mpi_node_comm.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// Returns the first wrong size, or -1. The sum of r + 1 over n ranks is n(n+1)/2.
long first_wrong(ddl::NodeComm& group, ddl::NodeCollectives& stage) {
  constexpr std::size_t most = (1 << 20) + 1;
  const int size = group.local_size();
  const auto block = group.allocate(most * sizeof(float));
  ddl::SharedRange range;
  for (int r = 0; r < size; ++r) range.parts.push_back(block->part(r).data());
  std::vector<std::size_t> counts{(1 << 20) - 1, most};
  for (std::size_t count = 0; count <= 4099; count += 1 + count / 64) counts.push_back(count);
  auto* own = reinterpret_cast<float*>(block->part(group.local_rank()).data());
  const float mine = static_cast<float>(group.local_rank() + 1);
  const float sum = static_cast<float>(size * (size + 1) / 2);
  for (std::uint64_t sequence = 0; sequence < counts.size(); ++sequence) {
    const std::size_t count = counts[sequence];
    range.count = count;
    std::vector<float> data(count, mine);
    std::fill_n(own, count, mine);
    stage.all_reduce(range, {}, {sequence, 1});
    stage.all_reduce(reinterpret_cast<std::byte*>(data.data()), count, {}, {sequence, 2});
    const std::vector<float> expected(count, sum);
    if (data != expected || !std::equal(expected.begin(), expected.end(), own))
      return static_cast<long>(count);
    stage.barrier({sequence, 3});
  }
  return -1;
}

void come_late(ddl::NodeComm& group, ddl::NodeCollectives& stage) {
  if (group.local_rank() == group.local_size() - 1) std::this_thread::sleep_for(std::chrono::seconds(2));
  stage.barrier({5, 0});
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool away = argc > 1 && std::string_view(argv[1]) == "away";
  {
    const auto group = ddl::make_mpi_node_comm(MPI_COMM_WORLD);
    ddl::NodeCollectives stage(*group, away ? 0.5 : 60.0);
    try {
      const long wrong = away ? (come_late(*group, stage), -1) : first_wrong(*group, stage);
      fmt::print("{} of {}: {}\n", group->local_rank(), group->local_size(),
                 wrong < 0 ? "all right" : fmt::format("wrong sum of {}", wrong));
    } catch (const ddl::Error& error) {
      fmt::print("{} of {}: {}\n", group->local_rank(), group->local_size(), error.what());
    }
  }
  MPI_Finalize();
  return 0;
}
