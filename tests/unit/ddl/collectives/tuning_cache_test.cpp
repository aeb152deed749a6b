// SPDX-License-Identifier: MIT
// What mode p keeps: read back, merged, passed over where it is damaged or of something else.
#include "ddl/collectives/tuning_cache.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

TEST_SUITE_BEGIN("ddl/collectives/tuning_cache");

using ddl::Mode;
using ddl::TunedAlgorithms;
using ddl::TuningCache;

namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct TrialDirectory {
  TrialDirectory()
      : path(std::filesystem::temp_directory_path() / ("ddl_cache_" + std::to_string(::getpid()))) {}
  ~TrialDirectory() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("explore cache: an explorer that knows tries nothing") {
  ddl::AlgorithmTuner tuner;
  tuner.load({{11, Mode::ring}, {21, Mode::best}});
  for (int i = 0; i < 20; ++i) {
    CHECK(tuner.choose(1 << 10) == Mode::ring);
    CHECK(tuner.add(1 << 10, 1.0 / (i + 1)).empty());
    CHECK(tuner.choose((1 << 20) + 5) == Mode::best);
  }
  CHECK(tuner.chosen() == TunedAlgorithms{{11, Mode::ring}, {21, Mode::best}});
  CHECK(tuner.choose(1) == Mode::best);  // of another size it knows nothing
  CHECK(tuner.add(1, 1.0).empty());
  CHECK(tuner.choose(1) == Mode::ring);
}

TEST_CASE("explore cache: only whole texts of this topology are taken") {
  const std::string whole = ddl::render_tuning("here", {{11, Mode::ring}, {21, Mode::best}});
  CHECK(ddl::parse_tuning(whole, "here") == TunedAlgorithms{{11, Mode::ring}, {21, Mode::best}});
  CHECK(ddl::parse_tuning(ddl::render_tuning("", {}), "") == TunedAlgorithms{});
  CHECK(!ddl::parse_tuning(whole, "there"));
  CHECK(!ddl::parse_tuning("", "here"));
  CHECK(!ddl::parse_tuning(whole + "\n", "here"));
  CHECK(!ddl::parse_tuning(ddl::render_tuning("here", {{11, Mode::mpi}}), "here"));  // of an older libddl
  for (std::size_t cut = 0; cut + 1 < whole.size(); ++cut)
    CHECK(!ddl::parse_tuning(whole.substr(0, cut), "here"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      CHECK(!ddl::parse_tuning(damaged, "here"));
    }
  }
}

TEST_CASE("explore cache: what two runs find is kept together, each topology for itself") {
  const TrialDirectory directory;
  TuningCache one(directory.path, "one");
  TuningCache again(directory.path, "one");
  TuningCache other(directory.path, "other");
  CHECK(!one.load());
  one.store({{11, Mode::ring}});
  again.store({{21, Mode::best}});
  other.store({{11, Mode::best}});
  CHECK(one.load() == TunedAlgorithms{{11, Mode::ring}, {21, Mode::best}});
  CHECK(other.load() == TunedAlgorithms{{11, Mode::best}});
  const std::filesystem::directory_iterator files(directory.path);
  CHECK(std::distance(begin(files), end(files)) == 2);
  for (const auto& file : std::filesystem::directory_iterator(directory.path))
    std::ofstream(file.path()) << "x";
  CHECK(!one.load());
  one.store({{12, Mode::best}});  // in place of the damaged one
  CHECK(one.load() == TunedAlgorithms{{12, Mode::best}});
}

TEST_CASE("explore cache: where nothing can be written nothing is, and nothing is thrown") {
  const TrialDirectory directory;
  std::ofstream(directory.path) << "a file";
  TuningCache cache(directory.path / "below", "one");
  cache.store({{11, Mode::ring}});
  CHECK(!cache.load());
  CHECK(content_of(directory.path) == "a file");
  TuningCache none("", "one");
  none.store({{11, Mode::ring}});
  CHECK(!none.load());
}

TEST_CASE(
    "explore cache: hosts of one kind are one topology, everything else that counts is reported apart") {
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

TEST_SUITE_END();
