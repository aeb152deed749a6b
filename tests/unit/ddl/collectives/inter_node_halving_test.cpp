// SPDX-License-Identifier: MIT
// Sums in log2 steps, on wires of every size. Ranks are threads; sums are closed forms.
#include "ddl/collectives/inter_node_halving.hpp"

#include "tests/support/sanitized.hpp"
#include "tests/unit/ddl/collectives/peer_ranks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>

TEST_SUITE_BEGIN("ddl/collectives/inter_node_halving");

using ddl::InterNodeAlgorithm;
using ddl::testing::Grid3;
using ddl::testing::inter_node_options;
using ddl::testing::RankOnPeers;
using ddl::testing::run_on_peers;

namespace {

// Rank r holds r + i at i; the sum of 0 .. n-1 is n(n-1)/2.
std::string check_sums(const Grid3& grid, std::size_t count, const ddl::InterNodeOptions& options,
                       const ddl::ThreadPeerCommOptions& wire = {}) {
  return run_on_peers(
      grid,
      [&](RankOnPeers& me) -> std::string {
        const auto n = static_cast<std::int64_t>(grid.ranks());
        std::vector<std::int64_t> data(count);
        for (std::size_t i = 0; i < count; ++i) data[i] = me.rank + static_cast<std::int64_t>(i);
        ddl::Scratch scratch;
        ddl::all_reduce(me.comms(), {.type = ddl::DataType::int64}, reinterpret_cast<std::byte*>(data.data()),
                        count, options, scratch);
        for (std::size_t i = 0; i < count; ++i) {
          if (data[i] != n * (n - 1) / 2 + n * static_cast<std::int64_t>(i))
            return "rank " + std::to_string(me.rank) + ", element " + std::to_string(i) + ": " +
                   std::to_string(data[i]);
        }
        return "";
      },
      wire);
}

}  // namespace

TEST_CASE("a step moves 1, 2, 4 ... pieces, all n - 1 in ceil(log2 n) steps") {
  for (const auto& [ranks, steps] :
       {std::pair{2, 1}, {3, 2}, {4, 2}, {5, 3}, {8, 3}, {9, 4}, {1024, 10}, {4095, 12}}) {
    CAPTURE(ranks);
    CHECK(ddl::halving_steps(ranks) == steps);
    int moved = 0;
    for (int step = 0; step < steps; ++step) {
      const ddl::HalvingStep gather = ddl::halving_gather_step(ranks, step);
      CHECK(gather.distance == 1 << step);
      CHECK(gather.blocks == ddl::halving_scatter_step(ranks, steps - 1 - step).blocks);
      moved += gather.blocks;
    }
    CHECK(moved == ranks - 1);
  }
}

TEST_CASE("wires of every size up to 40 ranks, whole and in many chunks") {
  for (int ranks = 2; ranks <= 40; ranks += ddlrun::testing::with_asan ? 7 : 1) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{39}, std::size_t{1000}}) {
      for (const std::size_t message : {std::size_t{64}, std::size_t{128} << 10}) {
        CAPTURE(ranks);
        CAPTURE(count);
        CAPTURE(message);
        CHECK(check_sums({ranks}, count, inter_node_options(InterNodeAlgorithm::halving, message)) == "");
      }
    }
  }
}

// For each half a rank sends to ceil(log2 33) = 6 others (J. Bruck et al. 1997), in two messages where the
// pieces pass the last one; directly it would send to 32. With two ranks on the second level that is one
// message more each.
TEST_CASE("many ranks with short pieces send few messages, few ranks send directly") {
  for (const auto& [grid, least, most] : {std::tuple{Grid3{33}, 33 * 2 * 6, 33 * 2 * 2 * 6},
                                          std::tuple{Grid3{33, 2}, 66 * 2 * 7, 66 * (2 * 2 * 6 + 2)},
                                          std::tuple{Grid3{16}, 16 * 2 * 15, 16 * 2 * 15}}) {
    CAPTURE(grid.text());
    std::atomic<int> messages = 0;
    ddl::ThreadPeerCommOptions wire;
    wire.delay = [&](int, int, std::uint64_t) {
      ++messages;
      return std::chrono::microseconds(0);
    };
    CHECK(check_sums(grid, 8192, {}, wire) == "");
    CHECK(messages >= least);
    CHECK(messages <= most);
  }
}

TEST_SUITE_END();
