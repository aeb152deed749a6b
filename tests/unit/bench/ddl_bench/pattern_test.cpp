// SPDX-License-Identifier: MIT
#include "bench/ddl_bench/pattern.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

TEST_SUITE_BEGIN("bench/ddl_bench/pattern");

using namespace ddlrun::ddl_bench;

TEST_CASE("the closed form is the sum, rank by rank") {
  for (const int ranks : {1, 2, 3, 4, 7, 16, 17, 33, 200, 256, 1000}) {
    CAPTURE(ranks);
    const Pattern pattern(ddl::DataType::float32, ranks);
    for (std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{12345}, std::size_t{1} << 28U}) {
      double sum = 0.0;
      for (int rank = 0; rank < ranks; ++rank) sum += pattern.value(i, rank);
      CHECK(pattern.sum(i) == sum);
      if (ranks <= 256) CHECK(sum <= 256.0);  // exact in bfloat16
    }
  }
}

TEST_CASE("one rank's fill is its sum, in every type; strays and NaNs are seen") {
  for (const auto type :
       {ddl::DataType::float32, ddl::DataType::float64, ddl::DataType::float16, ddl::DataType::bfloat16,
        ddl::DataType::int32, ddl::DataType::int64, ddl::DataType::uint8}) {
    CAPTURE(ddl::name_of(type));
    const Pattern pattern(type, 1);
    const std::size_t unit = ddl::size_of(type);
    std::vector<std::byte> data(1000 * unit);
    pattern.fill(data, 0);
    CHECK(pattern.count_wrong(data) == 0);
    std::vector<std::byte> moved(data.begin() + static_cast<std::ptrdiff_t>(unit), data.end());
    CHECK(pattern.count_wrong(moved) > 800);  // 15 of 16 neighbours differ
    std::memset(data.data() + 7 * unit, 0xFF, unit);
    CHECK(pattern.count_wrong(data) == 1);
  }
}

TEST_CASE("sums of uint8 are checked as they wrap around") {
  constexpr int ranks = 700;
  const Pattern pattern(ddl::DataType::uint8, ranks);
  std::vector<std::byte> data(100);
  for (std::size_t i = 0; i < data.size(); ++i) {
    unsigned sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += static_cast<unsigned>(pattern.value(i, rank));
    CHECK(sum > 255);
    data[i] = static_cast<std::byte>(sum);
  }
  CHECK(pattern.count_wrong(data) == 0);
  data[3] ^= std::byte{1};
  CHECK(pattern.count_wrong(data) == 1);
}

TEST_CASE("two ranks' float16 numbers are IEEE's") {
  const Pattern pattern(ddl::DataType::float16, 1);
  const std::uint16_t ieee[] = {0x0000, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                                0x4800, 0x4880, 0x4900, 0x4980, 0x4A00, 0x4A80, 0x4B00, 0x4B80};  // 0 to 15
  std::vector<std::byte> data(200);
  pattern.fill(data, 0);
  for (std::size_t i = 0; i < 100; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data.data() + 2 * i, 2);
    CHECK(bits == ieee[static_cast<std::size_t>(pattern.value(i, 0))]);
  }
}

TEST_SUITE_END();
