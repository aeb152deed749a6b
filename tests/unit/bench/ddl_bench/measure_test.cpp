// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/measure.hpp"

#include "bench/ddl_bench/memory_bandwidth.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("bench/ddl_bench/measure");

using namespace ddlrun::ddl_bench;

namespace {

// Two ranks that do the same; this is rank 0.
struct TwinWorld : World {
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void barrier() override {}
  std::vector<double> max_of(const std::vector<double>& mine) override { return mine; }
  std::size_t sum_of(std::size_t mine) override { return 2 * mine; }
  std::vector<std::string> gather(const std::string& mine) override { return {mine, mine}; }
};

// Adds what rank 1 would; each call takes `seconds` of the test's clock; `broken` leaves the last element.
struct TwinSum : Case {
  TwinSum(double& clock_of_test, std::size_t bytes, double takes, bool wrong)
      : now(clock_of_test), data(bytes / 4), seconds(takes), broken(wrong) {}
  std::span<std::byte> input() override { return std::as_writable_bytes(std::span(data)); }
  std::span<const std::byte> output() override { return input(); }
  void call() override {
    now += seconds;
    const Pattern pattern(ddl::DataType::float32, 2);
    for (std::size_t i = 0; i + (broken ? 1 : 0) < data.size(); ++i)
      data[i] += static_cast<float>(pattern.value(i, 1));
  }
  double& now;
  std::vector<float> data;
  double seconds;
  bool broken;
};

}  // namespace

TEST_CASE("turns: the times of each way, its wrong elements, its limit") {
  double now = 0.0;
  TwinWorld world;
  const auto backend = [&](std::string name, double seconds, bool broken) {
    return Backend{std::move(name), Roofline::sums, [&now, seconds, broken](std::size_t bytes) {
                     std::vector<std::unique_ptr<Case>> made;
                     made.push_back(std::make_unique<TwinSum>(now, bytes, seconds, broken));
                     return made;
                   }};
  };
  MeasurePlan plan;
  plan.seconds = 0.1;
  plan.make_link = [&now](std::size_t) {
    std::vector<std::unique_ptr<Case>> made;
    for (const double seconds : {0.0009, 0.0004})
      made.push_back(std::make_unique<TwinSum>(now, 0, seconds, false));
    return made;
  };
  plan.now = [&now] { return now; };
  const SizeResult size =
      measure_size(world, {backend("quick", 0.001, false), backend("slow", 0.01, true)}, 512, plan);
  CHECK(size.count == 128);
  REQUIRE(size.backends.size() == 2);
  CHECK(size.backends[0].best().times.least == doctest::Approx(0.001));
  CHECK(size.backends[1].best().times.median == doctest::Approx(0.01));
  CHECK(size.backends[0].best().times.turns == 24);  // 3 x 0.1 s over 0.0123 s a round: both links are one
  CHECK(size.backends[0].wrong() == 0);
  CHECK(size.backends[1].wrong() == 2);  // one on each of the twins
  CHECK(size.backends[0].limit == doctest::Approx(0.0004));
}

TEST_CASE("a machine that becomes busy ends the turns early") {
  double now = 0.0;
  TwinWorld world;
  const Backend backend{"busy", Roofline::none, [&now](std::size_t bytes) {
                          std::vector<std::unique_ptr<Case>> made;
                          made.push_back(std::make_unique<TwinSum>(now, bytes, 0.001, false));
                          return made;
                        }};
  MeasurePlan plan;
  plan.seconds = 0.1;
  int looks = 0;
  plan.now = [&now, &looks] { return ++looks > 20 ? now += 0.02 : now; };  // after the calibration
  const SizeResult size = measure_size(world, {backend}, 512, plan);
  CHECK(size.backends[0].best().times.turns >= 5);
  CHECK(size.backends[0].best().times.turns < 20);  // of 100
}

TEST_CASE("the limit's passes keep to their memory, whatever the size") {
  for (const int ranks : {1, 2, 3, 4, 8})
    for (const std::size_t bytes : {4U, 64U, 4096U, 100'000U, 1'000'000U})
      for (const bool once : {false, true}) MemoryBandwidth(bytes, ranks, once).pass();
}

TEST_SUITE_END();
