// SPDX-License-Identifier: MIT
#include "ddl/core/grid.hpp"

#include "ddl/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

TEST_SUITE_BEGIN("ddl/core/grid");

namespace {

std::string numbered_host(int number) { return "h" + std::to_string(number); }

// The rule of the dims: rank = x*(Y*Z*A) + y*(Z*A) + z*A + a, hosts listed rack by rack, aisle by aisle.
std::vector<std::string> ddl_order(int X, int Y, int Z, int A) {
  std::vector<std::string> hosts(static_cast<std::size_t>(X * Y * Z * A));
  for (int x = 0; x < X; ++x)
    for (int y = 0; y < Y; ++y)
      for (int z = 0; z < Z; ++z)
        for (int a = 0; a < A; ++a)
          hosts[static_cast<std::size_t>(x * (Y * Z * A) + y * (Z * A) + z * A + a)] =
              numbered_host((a * Z + z) * Y + y);
  return hosts;
}

std::vector<std::string> packed_order(int X, int hosts) {
  std::vector<std::string> order;
  for (int h = 0; h < hosts; ++h) order.insert(order.end(), static_cast<std::size_t>(X), numbered_host(h));
  return order;
}

struct GridPlacement {
  std::string name;
  std::string dims;
  std::vector<std::string> host_of_rank;
};

std::vector<GridPlacement> grid_placements() {
  std::vector<GridPlacement> all;
  const int shapes[][4] = {{1, 1, 1, 1}, {4, 1, 1, 1}, {1, 5, 1, 1}, {2, 2, 1, 1}, {2, 2, 2, 1},
                           {4, 2, 3, 1}, {3, 1, 4, 1}, {2, 3, 2, 2}, {1, 2, 1, 3}, {2, 1, 1, 4}};
  for (const auto& [x, y, z, a] : shapes) {
    const std::string dims =
        std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z) + "x" + std::to_string(a);
    all.push_back({"ddl " + dims, dims, ddl_order(x, y, z, a)});
    all.push_back({"packed " + dims, dims, packed_order(x, y * z * a)});
    std::vector<std::string> backwards = ddl_order(x, y, z, a);
    std::rotate(backwards.begin(), backwards.begin() + static_cast<std::ptrdiff_t>(backwards.size() / 3),
                backwards.end());
    std::reverse(backwards.begin(), backwards.end());
    all.push_back({"mixed " + dims, dims, backwards});
  }
  return all;
}

}  // namespace

TEST_CASE("every rank is on one wire of each level, and wires cut all ranks into parts") {
  for (const GridPlacement& given : grid_placements()) {
    CAPTURE(given.name);
    const ddl::Grid grid = ddl::plan_grid(given.dims, given.host_of_rank);
    const int ranks = static_cast<int>(given.host_of_rank.size());
    const std::size_t levels = grid.place(0).levels.size();
    for (std::size_t level = 0; level < levels; ++level) {
      std::map<std::vector<int>, std::set<int>> members;
      for (int rank = 0; rank < ranks; ++rank) {
        const ddl::Place place = grid.place(rank);
        REQUIRE(place.levels.size() == levels);
        const ddl::Level& comm = place.levels[level];
        REQUIRE(comm.ranks.size() ==
                static_cast<std::size_t>(grid.dims[static_cast<std::size_t>(comm.dimension)]));
        CHECK(comm.ranks[static_cast<std::size_t>(comm.me)] == rank);
        CHECK(members[comm.ranks].insert(rank).second);
        std::set<std::string> hosts;
        for (const int peer : comm.ranks) {
          hosts.insert(given.host_of_rank[static_cast<std::size_t>(peer)]);
          CHECK(grid.place(peer).local_rank == place.local_rank);
        }
        CHECK(hosts.size() == comm.ranks.size());
      }
      for (const auto& [comm, found] : members) CHECK(found == std::set<int>(comm.begin(), comm.end()));
    }
  }
}

// What a sum over the levels does: the local ranks' slices, then wire by wire. Each rank's contribution must
// reach every rank exactly once.
TEST_CASE("a sum over host and levels holds every rank once") {
  for (const GridPlacement& given : grid_placements()) {
    CAPTURE(given.name);
    const ddl::Grid grid = ddl::plan_grid(given.dims, given.host_of_rank);
    const std::size_t ranks = given.host_of_rank.size();
    using Counts = std::vector<int>;  // how often each rank is in a partial sum
    std::vector<Counts> sums(ranks, Counts(ranks, 0));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const ddl::Place place = grid.place(static_cast<int>(rank));
      for (const int local : place.local_ranks) ++sums[rank][static_cast<std::size_t>(local)];
    }
    for (std::size_t level = 0; level < grid.place(0).levels.size(); ++level) {
      const std::vector<Counts> before = sums;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        sums[rank].assign(ranks, 0);
        const ddl::Place place = grid.place(static_cast<int>(rank));
        for (const int peer : place.levels[level].ranks) {
          for (std::size_t i = 0; i < ranks; ++i) sums[rank][i] += before[static_cast<std::size_t>(peer)][i];
        }
      }
    }
    for (const Counts& sum : sums) CHECK(sum == Counts(ranks, 1));
  }
}

TEST_CASE("racks come from the order of ranks") {
  // 2x2x2, hosts h0 h1 in the first rack, h2 h3 in the second.
  for (const auto& hosts : {ddl_order(2, 2, 2, 1), packed_order(2, 4)}) {
    const ddl::Grid grid = ddl::plan_grid("2x2x2", hosts);
    CHECK(grid.text() == "2x2x2");
    CHECK(grid.hosts == std::vector<std::string>{"h0", "h1", "h2", "h3"});
    for (int rank = 0; rank < 8; ++rank) {
      const ddl::Place place = grid.place(rank);
      const int number = hosts[static_cast<std::size_t>(rank)][1] - '0';
      CHECK(place.host == number);
      CHECK(grid.position_of(number) == std::vector<int>{number % 2, number / 2});
      CHECK(place.levels[0].name == 'Y');
      CHECK(place.levels[1].name == 'Z');
      CHECK(place.levels[0].me == number % 2);
      CHECK(place.levels[1].me == number / 2);
      CHECK(grid.name_of(rank) == "rank " + std::to_string(rank) + " (h" + std::to_string(number) + ")");
    }
  }
  // In DDL order ranks 0 1 2 3 are on h0, h2, h1, h3.
  const ddl::Place place = ddl::plan_grid("2x2x2", ddl_order(2, 2, 2, 1)).place(1);
  CHECK(place.levels[0].ranks == std::vector<int>{1, 3});
  CHECK(place.levels[1].ranks == std::vector<int>{0, 1});
  CHECK(place.local_ranks == std::vector<int>{1, 5});
}

TEST_CASE("levels of size 1 are left out; without dims all hosts are one level") {
  struct Row {
    const char* dims;
    int per_host;
    int hosts;
    const char* text;
    const char* names;
  };
  const Row rows[] = {{"", 2, 4, "2x4", "Y"},
                      {"", 3, 1, "3x1", ""},
                      {"", 1, 1, "1x1", ""},
                      {"2x4", 2, 4, "2x4", "Y"},
                      {"2x1x4", 2, 4, "2x1x4", "Z"},
                      {"4", 4, 1, "4x1", ""},
                      {"1x2x1x3", 1, 6, "1x2x1x3", "YA"},
                      {"1x2x2x2", 1, 8, "1x2x2x2", "YZA"}};
  for (const Row& row : rows) {
    CAPTURE(row.dims);
    const ddl::Grid grid = ddl::plan_grid(row.dims, packed_order(row.per_host, row.hosts));
    std::string names;
    for (const ddl::Level& level : grid.place(0).levels) names += level.name;
    CHECK(names == row.names);
    CHECK(grid.text() == row.text);
    CHECK(grid.position_of(0).size() == names.size());
  }
}

TEST_CASE("placements and dims that do not fit are refused with a table and a way out") {
  const std::vector<std::string> uneven{"h1", "h1", "h1", "h2"};
  struct Row {
    std::string dims;
    std::vector<std::string> hosts;
    const char* what;
    const char* hint;
  };
  const Row rows[] = {
      {"", uneven,
       "h2 has 1 rank, h1 has 3: hosts must have equally many\n  h1: 3 ranks: 0 1 2\n  h2: 1 rank: 3",
       "start 1 rank on each of the 2 hosts"},
      {"2x2", uneven, "h2 has 1 rank", "start 1 rank"},
      {"4x1", packed_order(2, 2), "dims 4x1 are 1 host of 4 ranks, the job has 2 of 2\n  h0: 2 ranks: 0 1\n",
       "dims 2x2"},
      {"2x3x2", packed_order(2, 4), "dims 2x3x2 are 6 hosts of 2 ranks, the job has 4 of 2",
       "dims 2x2x2 or 2x4"},
      {"1x4x2", packed_order(2, 4), "dims 1x4x2 are 8 hosts of 1 rank", "dims 2x2x2 or 2x4"},
      {"2x", packed_order(2, 4), "each factor is a number", "4x2x1"},
      {"2y2", packed_order(2, 4), "separated by 'x'", "4x2x1"},
      {"0x2", packed_order(2, 4), "from 1 on", "4x2x1"},
      {"-2x2", packed_order(2, 4), "from 1 on", "4x2x1"},
      {"1x1x1x1x1", packed_order(1, 1), "at most 4", "4x2x1"},
      {"99999x99999", packed_order(1, 1), "more than 1048576 ranks", "4x2x1"},
      {"99999999999", packed_order(1, 1), "each factor", "4x2x1"},
      {"", {}, "no ranks", "at least one"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.dims);
    try {
      ddl::plan_grid(row.dims, row.hosts);
      FAIL_CHECK("no error");
    } catch (const ddl::Error& error) {
      CHECK(error.fault() == ddl::Fault::usage);
      CHECK_MESSAGE(std::string(error.what()).find(row.what) != std::string::npos, error.what());
      CHECK_MESSAGE(error.hint().find(row.hint) != std::string::npos, error.hint());
    }
  }
}

TEST_CASE("a table of many hosts is cut") {
  std::vector<std::string> hosts = packed_order(40, 100);
  hosts.pop_back();
  try {
    ddl::plan_grid("", hosts);
    FAIL("no error");
  } catch (const ddl::Error& error) {
    const std::string text = error.what();
    CHECK(std::count(text.begin(), text.end(), '\n') == 17);
    CHECK(text.find("... and 84 hosts more") != std::string::npos);
  }
}

TEST_SUITE_END();
