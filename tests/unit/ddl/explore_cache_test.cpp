// SPDX-License-Identifier: MIT
// What mode p keeps: read back, merged, passed over where it is damaged or of something else.
#include "ddl/explore_cache.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using ddl::ChosenWays;
using ddl::ExploreCache;
using ddl::Mode;

namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct TrialFolder {
  TrialFolder()
      : path(std::filesystem::temp_directory_path() / ("ddl_cache_" + std::to_string(::getpid()))) {}
  ~TrialFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("explore cache: an explorer that knows tries nothing") {
  ddl::Explorer explorer;
  explorer.recall({{11, Mode::ring}, {21, Mode::mpi}});
  for (int i = 0; i < 20; ++i) {
    CHECK(explorer.next(1 << 10) == Mode::ring);
    CHECK(!explorer.add(1 << 10, 1.0 / (i + 1)));
    CHECK(explorer.next((1 << 20) + 5) == Mode::mpi);
  }
  CHECK(explorer.chosen() == ChosenWays{{11, Mode::ring}, {21, Mode::mpi}});
  CHECK(explorer.next(1) == Mode::best);  // of another size it knows nothing
  CHECK(!explorer.add(1, 1.0));
  CHECK(explorer.next(1) == Mode::ring);
}

TEST_CASE("explore cache: only whole texts of this topology are taken") {
  const std::string whole = ddl::render_ways("here", {{11, Mode::ring}, {21, Mode::best}});
  CHECK(ddl::parse_ways(whole, "here") == ChosenWays{{11, Mode::ring}, {21, Mode::best}});
  CHECK(ddl::parse_ways(ddl::render_ways("", {}), "") == ChosenWays{});
  CHECK(!ddl::parse_ways(whole, "there"));
  CHECK(!ddl::parse_ways("", "here"));
  CHECK(!ddl::parse_ways(whole + "\n", "here"));
  for (std::size_t cut = 0; cut + 1 < whole.size(); ++cut)
    CHECK(!ddl::parse_ways(whole.substr(0, cut), "here"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      CHECK(!ddl::parse_ways(damaged, "here"));
    }
  }
}

TEST_CASE("explore cache: what two runs find is kept together, each topology for itself") {
  const TrialFolder folder;
  ExploreCache one(folder.path, "one");
  ExploreCache again(folder.path, "one");
  ExploreCache other(folder.path, "other");
  CHECK(!one.read());
  one.keep({{11, Mode::ring}});
  again.keep({{21, Mode::mpi}});
  other.keep({{11, Mode::best}});
  CHECK(one.read() == ChosenWays{{11, Mode::ring}, {21, Mode::mpi}});
  CHECK(other.read() == ChosenWays{{11, Mode::best}});
  const std::filesystem::directory_iterator files(folder.path);
  CHECK(std::distance(begin(files), end(files)) == 2);
  for (const auto& file : std::filesystem::directory_iterator(folder.path)) std::ofstream(file.path()) << "x";
  CHECK(!one.read());
  one.keep({{12, Mode::best}});  // in place of the damaged one
  CHECK(one.read() == ChosenWays{{12, Mode::best}});
}

TEST_CASE("explore cache: where nothing can be written nothing is, and nothing is thrown") {
  const TrialFolder folder;
  std::ofstream(folder.path) << "a file";
  ExploreCache cache(folder.path / "below", "one");
  cache.keep({{11, Mode::ring}});
  CHECK(!cache.read());
  CHECK(content_of(folder.path) == "a file");
  ExploreCache none("", "one");
  none.keep({{11, Mode::ring}});
  CHECK(!none.read());
}

TEST_CASE("explore cache: hosts of one kind are one topology, everything else that counts is told apart") {
  const std::string hosts[] = {"node12", "node7", "node12", "node7"};
  const std::string same[] = {"node3", "node144", "node3", "node144"};
  const std::string others[] = {"fat1", "fat2", "fat1", "fat2"};
  const std::string fewer[] = {"node12", "node7"};
  const auto topology = [](std::span<const std::string> names, const ddl::Options& options = {},
                           const char* isa = "avx2") {
    return ddl::render_topology(ddl::plan_grid("", names), options, isa);
  };
  const std::string here = topology(hosts);
  CHECK(topology(same) == here);
  CHECK(topology(others) != here);
  CHECK(topology(fewer) != here);
  CHECK(topology(hosts, {}, "avx512") != here);
  ddl::Options narrow;
  narrow.wire = ddl::DataType::bfloat16;
  CHECK(topology(hosts, narrow) != here);
}
