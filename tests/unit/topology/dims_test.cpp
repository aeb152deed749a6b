// SPDX-License-Identifier: MIT
#include "topology/dims.hpp"

#include "base/text/error.hpp"
#include "tests/support/mutate.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::topology;

TEST_SUITE_BEGIN("topology/dims");

TEST_CASE("dims are read in every form that people type") {
  struct Row {
    std::string_view text;
    Dims want;
    std::string_view canonical;
  };
  const Row rows[] = {{"4x2x3", {4, 2, 3, 1}, "4x2x3"},
                      {"4x2", {4, 2, 1, 1}, "4x2x1"},
                      {"4", {4, 1, 1, 1}, "4x1x1"},
                      {"6x2x1x1", {6, 2, 1, 1}, "6x2x1"},
                      {"6x2x3x2", {6, 2, 3, 2}, "6x2x3x2"},
                      {"p:6x2x1x1", {6, 2, 1, 1}, "6x2x1"},
                      {"b:4x2x1", {4, 2, 1, 1}, "4x2x1"},
                      {"r:2", {2, 1, 1, 1}, "2x1x1"},
                      {"1048576", {1048576, 1, 1, 1}, "1048576x1x1"}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parse_dims(row.text) == row.want);
    CHECK(render_dims(row.want) == row.canonical);
    CHECK(parse_dims(row.canonical) == row.want);
  }
}

TEST_CASE("dims that cannot be are refused") {
  for (const char* bad : {"",
                          "x",
                          "4x",
                          "x4",
                          "0",
                          "4x0x1",
                          "-1",
                          "+4",
                          "0x4",
                          "4X2",
                          " 4",
                          "4 ",
                          "4x2x3x1x1",
                          "4.0",
                          "1048577",
                          "1024x1024x2",
                          "4294967296x1x1",
                          "65536x65536",
                          "18446744073709551617x1",
                          "q:4x2",
                          "bb:4",
                          ":4",
                          "4:2",
                          "\xef\xbc\x94x2",
                          "4x2\n",
                          "4,2"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_dims(bad), Error);
  }
}

// The 24 lines printed in the PowerAI DDL post of September 2017: host -> ranks of its 4 GPUs.
TEST_CASE("DDL order is that of the published 4x2x3 rankfile") {
  const Dims dims{4, 2, 3, 1};
  const std::uint32_t published[6][4] = {{0, 6, 12, 18},  {3, 9, 15, 21}, {1, 7, 13, 19},
                                         {4, 10, 16, 22}, {2, 8, 14, 20}, {5, 11, 17, 23}};
  for (std::uint32_t host = 0; host < 6; ++host) {
    for (std::uint32_t x = 0; x < 4; ++x) {
      CHECK(dims.rank_of(dims.coordinates(host, x), RankOrder::ddl) == published[host][x]);
    }
  }
}

TEST_CASE("both orders number every place once, hosts and coordinates go both ways") {
  for (std::uint32_t x = 1; x <= 5; ++x)
    for (std::uint32_t y = 1; y <= 4; ++y)
      for (std::uint32_t z = 1; z <= 3; ++z)
        for (std::uint32_t a = 1; a <= 3; ++a) {
          const Dims dims{x, y, z, a};
          for (const RankOrder order : {RankOrder::ddl, RankOrder::packed}) {
            std::set<std::uint32_t> ranks;
            for (std::uint32_t host = 0; host < dims.host_count(); ++host) {
              std::uint32_t previous = 0;
              for (std::uint32_t local = 0; local < x; ++local) {
                const Coordinates at = dims.coordinates(host, local);
                CHECK(dims.host_of(at) == host);
                const std::uint32_t rank = dims.rank_of(at, order);
                CHECK(rank < dims.world_size());
                if (local > 0) CHECK(rank > previous);  // GPU x is the host's x-th smallest rank
                previous = rank;
                ranks.insert(rank);
              }
            }
            CHECK(ranks.size() == dims.world_size());
          }
        }
}

TEST_CASE("a refusal offers shapes that are legal") {
  CHECK(nearest_shapes({4, 2, 3, 1}, 5) == std::vector<std::string>{"4x5x1"});
  CHECK(nearest_shapes({4, 2, 3, 1}, 4) == std::vector<std::string>{"4x2x2", "4x4x1"});
  CHECK(nearest_shapes({4, 2, 3, 1}, 9) == std::vector<std::string>{"4x3x3", "4x9x1"});
  for (std::size_t hosts = 1; hosts < 40; ++hosts) {
    for (const std::string& shape : nearest_shapes({4, 3, 2, 1}, hosts)) {
      CHECK(parse_dims(shape).host_count() == hosts);
    }
  }
}

TEST_CASE("mutated dims never crash; what is accepted is in range") {
  const std::uint64_t rounds = tests::mutation_rounds(20'000);
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const char* seeds[] = {"4x2x3", "p:6x2x1x1", "8x1024x128", "4"};
    try {
      const Dims dims = parse_dims(tests::mutate(seeds[i % 4], i));
      CHECK(std::uint64_t{dims.world_size()} <= max_ranks);
      CHECK(parse_dims(render_dims(dims)) == dims);
    } catch (const Error& error) {
      ++refused;
      CHECK_FALSE(error.message().where.empty());
    }
  }
  CHECK(refused > rounds / 10);
  CHECK(refused < rounds);
}

TEST_SUITE_END();
