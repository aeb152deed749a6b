// SPDX-License-Identifier: MIT
// Sums over wires against closed forms: contributions are small integers, so every order of additions has one
// exact result in every type. Ranks are threads.
#include "ddl/collectives/inter_node_collectives.hpp"

#include "ddl/collectives/inter_node_broadcast.hpp"
#include "ddl/error.hpp"
#include "ddl/transport/thread/thread_peer_comm.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/ddl/collectives/peer_ranks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

TEST_SUITE_BEGIN("ddl/collectives/inter_node_collectives");

using ddl::DataType;
using ddl::InterNodeAlgorithm;
using ddl::Operation;
using ddl::testing::Grid3;
using ddl::testing::inter_node_options;
using ddl::testing::RankOnPeers;
using ddl::testing::run_on_peers;
using ddl::testing::TypedVector;

namespace {

// The memory checker makes each message dear: of the counts it sees some.
constexpr std::size_t thin = ddlrun::testing::with_asan ? 29 : 1;

constexpr DataType wire_types[] = {DataType::float32,  DataType::float64, DataType::float16,
                                   DataType::bfloat16, DataType::int32,   DataType::int64,
                                   DataType::uint8};

// The first three always cut long vectors into chunks.
constexpr InterNodeAlgorithm algorithms[] = {InterNodeAlgorithm::direct, InterNodeAlgorithm::ring,
                                             InterNodeAlgorithm::halving, InterNodeAlgorithm::best,
                                             InterNodeAlgorithm::gathered};

// What rank r holds at i: an integer of at most 3 bits, so that 9 to 27 of them sum exactly even in bfloat16.
double held_on_wire(int rank, std::size_t i) {
  return static_cast<double>((i * 7 + static_cast<std::size_t>(rank) * 3) % 5) -
         static_cast<double>(rank % 2);
}

// Factors are 1, 2 and -1: a product of 27 is exact too. uint8 has nothing below 0.
double held_for(DataType type, Operation operation, int rank, std::size_t i) {
  const double held = held_on_wire(rank, i);
  if (operation == Operation::product) return held > 2 ? 2 : held < 0 && type != DataType::uint8 ? -1 : 1;
  return type == DataType::uint8 ? std::abs(held) : held;
}

double expected_of_wire(int ranks, std::size_t i, Operation operation, DataType type = DataType::float32) {
  double sum = 0;
  double product = 1;
  double most = -1e9;
  double least = 1e9;
  for (int rank = 0; rank < ranks; ++rank) {
    const double held = held_for(type, operation, rank, i);
    sum += held;
    product *= held;
    most = std::max(most, held);
    least = std::min(least, held);
  }
  switch (operation) {
    case Operation::max:
      return most;
    case Operation::min:
      return least;
    case Operation::product:
      return product;
    case Operation::average:
      return sum / ranks;
    case Operation::sum:
      break;
  }
  return sum;
}

ddl::Reduction wire_reduction(DataType type, Operation operation, int ranks) {
  return {type, operation, operation == Operation::average ? 1.0 / ranks : 1.0};
}

struct WireTrial {
  Grid3 grid;
  DataType type = DataType::float32;
  Operation operation = Operation::sum;
  std::vector<std::size_t> counts;
  ddl::InterNodeOptions options;
};

// Every count on every rank; says the first wrong element, or nothing. All bits are those of rank 0.
std::string check_all_reduce(const WireTrial& trial) {
  return run_on_peers(trial.grid, [&](RankOnPeers& me) -> std::string {
    const int ranks = trial.grid.ranks();
    ddl::Scratch scratch;
    for (const std::size_t count : trial.counts) {
      TypedVector data(trial.type, count);
      for (std::size_t i = 0; i < count; ++i) data.set(i, held_for(trial.type, trial.operation, me.rank, i));
      ddl::all_reduce(me.comms(), wire_reduction(trial.type, trial.operation, ranks), data.bytes(), count,
                      trial.options, scratch);
      for (std::size_t i = 0; i < count; ++i) {
        const double wanted = data.rounded(expected_of_wire(ranks, i, trial.operation, trial.type));
        const double slack = trial.operation == Operation::average ? std::abs(wanted) * data.epsilon() : 0.0;
        if (!(std::abs(data.get(i) - wanted) <= slack)) {
          return "rank " + std::to_string(me.rank) + ", element " + std::to_string(i) + " of " +
                 std::to_string(count) + ": " + std::to_string(data.get(i)) + ", not " +
                 std::to_string(wanted);
        }
      }
    }
    return "";
  });
}

std::vector<std::size_t> counts_between(std::size_t first, std::size_t step, std::size_t last) {
  std::vector<std::size_t> counts;
  for (std::size_t count = first; count <= last; count += step) counts.push_back(count);
  return counts;
}

}  // namespace

TEST_CASE("every count from 0 to 4099 sums up, on one to three levels") {
  // Messages of 256 bytes: many chunks, also of vectors as short as these.
  const WireTrial trials[] = {
      {{2},
       DataType::float32,
       Operation::sum,
       counts_between(0, thin, 4099),
       inter_node_options(InterNodeAlgorithm::direct, 256)},
      {{3},
       DataType::bfloat16,
       Operation::sum,
       counts_between(0, thin, 4099),
       inter_node_options(InterNodeAlgorithm::best)},
      {{2, 2},
       DataType::float16,
       Operation::max,
       counts_between(0, thin, 4099),
       inter_node_options(InterNodeAlgorithm::best, 1024)},
      {{2, 3},
       DataType::int32,
       Operation::sum,
       counts_between(0, 3 * thin, 4099),
       inter_node_options(InterNodeAlgorithm::ring, 256)},
      {{2, 2, 2},
       DataType::float64,
       Operation::average,
       counts_between(0, 3 * thin, 4099),
       inter_node_options(InterNodeAlgorithm::best)},
  };
  for (const WireTrial& trial : trials) {
    CAPTURE(trial.grid.text());
    CHECK(check_all_reduce(trial) == "");
  }
}

TEST_CASE("all types, operations and algorithms on wires of 1 to 9 ranks") {
  std::size_t turn = 0;
  const Grid3 grids[] = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {3, 2}, {1, 3}, {2, 1, 2}, {3, 2, 2}};
  for (const Grid3& grid : grids) {
    for (const InterNodeAlgorithm algorithm : algorithms) {
      for (const DataType type : wire_types) {
        for (const Operation operation :
             {Operation::sum, Operation::average, Operation::max, Operation::min, Operation::product}) {
          if (is_integer(type) && operation == Operation::average) continue;
          if (turn++ % (thin > 1 ? 5 : 1) != 0) continue;  // of 32 in a row: all come up
          CAPTURE(grid.text());
          CAPTURE(static_cast<int>(algorithm));
          CAPTURE(std::string(ddl::name_of(type)));
          CAPTURE(std::string(ddl::name_of(operation)));
          CHECK(check_all_reduce({grid,
                                  type,
                                  operation,
                                  {0, 1, 2, 8, 63, 1000, 4099},
                                  inter_node_options(algorithm, 512)}) == "");
        }
      }
    }
  }
}

TEST_CASE("2^20 and its neighbours") {
  for (const InterNodeAlgorithm algorithm : std::span(algorithms).first(3)) {
    for (const Grid3& grid : {Grid3{2}, Grid3{3}, Grid3{2, 2}}) {
      for (const DataType type : {DataType::float32, DataType::bfloat16}) {
        CAPTURE(grid.text());
        std::vector<std::size_t> counts{(1 << 20) + 1, 1 << 20, (1 << 20) - 1};
        if (thin > 1) counts.resize(1);
        CHECK(check_all_reduce({grid, type, Operation::sum, counts, inter_node_options(algorithm)}) == "");
      }
    }
  }
}

TEST_CASE("a narrow wire: integers that fit come out exactly") {
  for (const DataType narrow : {DataType::bfloat16, DataType::float16}) {
    for (const InterNodeAlgorithm algorithm : std::span(algorithms).first(3)) {
      for (const Grid3& grid : {Grid3{2}, Grid3{5}, Grid3{2, 2}, Grid3{3, 2, 2}}) {
        CAPTURE(grid.text());
        CAPTURE(static_cast<int>(algorithm));
        ddl::InterNodeOptions options = inter_node_options(algorithm, 512);
        options.wire_dtype = narrow;
        CHECK(check_all_reduce({grid, DataType::float32, Operation::sum, {1, 2, 100, 4099}, options}) == "");
        CHECK(check_all_reduce({grid, DataType::float64, Operation::sum, {1, 2, 100, 4099}, options}) == "");
        CHECK(check_all_reduce({grid, DataType::float32, Operation::min, {1, 2, 100, 4099}, options}) == "");
        CHECK(check_all_reduce({grid, DataType::float32, Operation::product, {1, 2, 4099}, options}) == "");
      }
    }
  }
}

// Numbers whose sums round: all ranks still have the same bits, in every repetition, and stay near the true
// sum.
TEST_CASE("the same bits on all ranks and in every repetition") {
  const std::size_t count = 5000;
  const auto value = [](int rank, std::size_t i) {
    return static_cast<float>(std::sin(static_cast<double>(i) * 0.7 + rank * 1.3) / (1 + rank));
  };
  for (const bool narrow : {false, true}) {
    for (const InterNodeAlgorithm algorithm : algorithms) {
      for (const Grid3& grid : {Grid3{2}, Grid3{5}, Grid3{9}, Grid3{3, 2}, Grid3{2, 2, 2}}) {
        std::vector<std::vector<float>> results(static_cast<std::size_t>(grid.ranks()));
        CAPTURE(grid.text());
        CAPTURE(narrow);
        CAPTURE(static_cast<int>(algorithm));
        std::vector<float> first;
        for (int repetition = 0; repetition < 3; ++repetition) {
          const std::string problem = run_on_peers(grid, [&](RankOnPeers& me) -> std::string {
            std::vector<float>& data = results[static_cast<std::size_t>(me.rank)];
            data.resize(count);
            for (std::size_t i = 0; i < count; ++i) data[i] = value(me.rank, i);
            ddl::Scratch scratch;
            ddl::InterNodeOptions options = inter_node_options(algorithm, 1024);
            if (narrow) options.wire_dtype = DataType::bfloat16;
            ddl::all_reduce(me.comms(), {.type = DataType::float32},
                            reinterpret_cast<std::byte*>(data.data()), count, options, scratch);
            return "";
          });
          REQUIRE(problem == "");
          if (first.empty()) first = results[0];
          for (const auto& result : results) {
            REQUIRE(std::memcmp(result.data(), first.data(), count * sizeof(float)) == 0);
          }
        }
        double worst = 0;
        for (std::size_t i = 0; i < count; ++i) {
          double sum = 0;
          for (int rank = 0; rank < grid.ranks(); ++rank) sum += static_cast<double>(value(rank, i));
          worst = std::max(worst, std::abs(sum - static_cast<double>(first[i])));
        }
        CHECK(worst < (narrow ? 0.05 : 1e-6));
        if (narrow && algorithm != InterNodeAlgorithm::gathered) CHECK(worst > 1e-5);  // it did travel narrow
      }
    }
  }
}

TEST_CASE("what goes on beside the wires sees each element once, in order, and its sum") {
  const Grid3 grid{2, 2};
  for (const InterNodeAlgorithm algorithm : algorithms) {
    for (const std::size_t count : {0u, 1u, 500u, 40'000u}) {
      CAPTURE(static_cast<int>(algorithm));
      CAPTURE(count);
      const std::string problem = run_on_peers(grid, [&](RankOnPeers& me) -> std::string {
        std::vector<float> data(count, -1.0F);
        std::size_t filled = 0, taken = 0, stretches = 0, wrong = 0;
        ddl::PipelineHooks beside;
        beside.produce = [&](std::size_t first, std::size_t n) {
          wrong += first == filled ? 0 : 1;
          for (filled = first + n; n > 0; --n) data[filled - n] = static_cast<float>(me.rank + 1);
        };
        beside.consume = [&](std::size_t first, std::size_t n) {
          wrong += first == taken && first + n <= filled ? 0 : 1;
          for (taken = first + n; n > 0; --n) wrong += data[taken - n] == 10.0F ? 0 : 1;  // 1 + 2 + 3 + 4
          ++stretches;
        };
        ddl::Scratch scratch;
        ddl::all_reduce(me.comms(), {.type = DataType::float32}, reinterpret_cast<std::byte*>(data.data()),
                        count, inter_node_options(algorithm, 1024), scratch, beside);
        const bool cut = algorithm != InterNodeAlgorithm::gathered && count > 10'000;
        if (cut && stretches < 10) return "all at once";
        return wrong == 0 && filled == count && taken == count ? "" : "wrong stretches";
      });
      CHECK(problem == "");
    }
  }
}

TEST_CASE("reduce_scatter leaves each rank its piece, all_gather spreads it") {
  for (const Grid3& grid : {Grid3{1}, Grid3{2}, Grid3{4}, Grid3{9}, Grid3{2, 3}, Grid3{2, 2, 3}}) {
    for (const std::size_t count : {0u, 1u, 5u, 144u, 4099u}) {
      for (const bool narrow : {false, true}) {
        CAPTURE(grid.text());
        CAPTURE(count);
        CAPTURE(narrow);
        std::vector<int> owners(count, 0);
        const std::string problem = run_on_peers(grid, [&](RankOnPeers& me) -> std::string {
          const int ranks = grid.ranks();
          ddl::InterNodeOptions options = inter_node_options(InterNodeAlgorithm::best, 256);
          if (narrow) options.wire_dtype = DataType::bfloat16;
          TypedVector data(DataType::float32, count);
          for (std::size_t i = 0; i < count; ++i) data.set(i, held_on_wire(me.rank, i));
          ddl::Scratch scratch;
          ddl::reduce_scatter(me.comms(), {.type = DataType::float32}, data.bytes(), count, options, scratch);
          const ddl::OwnedRange owned = ddl::owned_range(me.comms(), count);
          if (count % static_cast<std::size_t>(ranks) == 0 &&
              owned.count != count / static_cast<std::size_t>(ranks)) {
            return "pieces are not equal";
          }
          for (std::size_t i = owned.first; i < owned.first + owned.count; ++i) {
            ++owners[i];
            if (data.get(i) != expected_of_wire(ranks, i, Operation::sum))
              return "wrong sum at " + std::to_string(i);
          }
          for (std::size_t i = 0; i < count; ++i) {
            if (i < owned.first || i >= owned.first + owned.count) data.set(i, -99);
          }
          ddl::all_gather(me.comms(), DataType::float32, data.bytes(), count, options, scratch);
          for (std::size_t i = 0; i < count; ++i) {
            if (data.get(i) != expected_of_wire(ranks, i, Operation::sum))
              return "not gathered: " + std::to_string(i);
          }
          return "";
        });
        CHECK(problem == "");
        CHECK(std::count(owners.begin(), owners.end(), 1) == static_cast<std::ptrdiff_t>(count));
      }
    }
  }
}

TEST_CASE("broadcast from every rank, short and in many messages") {
  for (const Grid3& grid : {Grid3{1}, Grid3{2}, Grid3{7}, Grid3{8}, Grid3{3, 2}, Grid3{2, 2, 3}}) {
    for (const std::size_t bytes : {0u, 1u, 256u, 257u, 9001u}) {
      for (int root = 0; root < grid.ranks(); ++root) {
        CAPTURE(grid.text());
        CAPTURE(bytes);
        CAPTURE(root);
        CHECK(run_on_peers(grid, [&](RankOnPeers& me) -> std::string {
                std::vector<std::byte> data(bytes, std::byte{7});
                const auto sent = [&](std::size_t i) {
                  return static_cast<std::byte>(i * 31 + static_cast<std::size_t>(root));
                };
                for (std::size_t i = 0; i < bytes && me.rank == root; ++i) data[i] = sent(i);
                ddl::broadcast(me.comms(), grid.position_of(root), data,
                               inter_node_options(InterNodeAlgorithm::best, 256));
                for (std::size_t i = 0; i < bytes; ++i) {
                  if (data[i] != sent(i)) return "wrong byte " + std::to_string(i);
                }
                return "";
              }) == "");
      }
    }
  }
}

TEST_CASE("trees: everyone but the root has one parent, who knows its child") {
  for (int size = 1; size <= 40; ++size) {
    for (const int root : {0, size / 2, size - 1}) {
      for (const auto plan : {ddl::plan_chain, ddl::plan_binomial_tree}) {
        CAPTURE(size);
        CAPTURE(root);
        std::vector<int> parents(static_cast<std::size_t>(size), -1);
        for (int rank = 0; rank < size; ++rank) {
          for (const int child : plan(size, rank, root).children) {
            CHECK(parents[static_cast<std::size_t>(child)] == -1);
            parents[static_cast<std::size_t>(child)] = rank;
          }
        }
        for (int rank = 0; rank < size; ++rank) {
          CHECK(plan(size, rank, root).parent == parents[static_cast<std::size_t>(rank)]);
          CHECK((parents[static_cast<std::size_t>(rank)] == -1) == (rank == root));
        }
      }
    }
  }
}

TEST_CASE("no one leaves a barrier before the last has come") {
  for (const Grid3& grid : {Grid3{2}, Grid3{5}, Grid3{9}, Grid3{3, 2}, Grid3{2, 2, 2}}) {
    CAPTURE(grid.text());
    std::vector<std::atomic<int>> arrived(20);
    CHECK(run_on_peers(grid, [&](RankOnPeers& me) -> std::string {
            for (std::size_t round = 0; round < 20; ++round) {
              ++arrived[round];
              ddl::barrier(me.comms(), {});
              if (arrived[round] != grid.ranks()) return "left early";
            }
            return "";
          }) == "");
  }
}

TEST_SUITE_END();
