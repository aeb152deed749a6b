// SPDX-License-Identifier: MIT
// Texts of the ranks by sums, and sums that another rank has changed.
#include "ddl/core/gather_strings.hpp"

#include "ddl/error.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("ddl/core/gather_strings");

namespace {

// gather_strings() of rank 0 of 2; the other rank adds `lengths` to the sum of the lengths. "what", or the
// texts in a row.
std::string gathered(const std::string& mine, std::vector<std::int32_t> lengths, ddl::Fault& fault) {
  int calls = 0;
  try {
    std::string all;
    const auto sum = [&](const ddl::Tensor& tensor) {
      auto* const words = reinterpret_cast<std::int32_t*>(tensor.data);
      if (calls++ == 0) {
        for (std::size_t i = 0; i < lengths.size(); ++i) words[i] += lengths[i];
      } else {
        words[tensor.count - 1] += 0x64636261;  // "abcd" on this machine
      }
    };
    for (const std::string& text : ddl::gather_strings(mine, 0, 2, sum)) all += text + "|";
    return all;
  } catch (const ddl::Error& error) {
    fault = error.fault();
    return error.what();
  }
}

}  // namespace

TEST_CASE("lengths that another rank has changed are refused before anything is copied") {
  const std::string mine(56, 'x');
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  ddl::Fault fault{};
  CHECK(gathered(mine, {0, 4}, fault) == mine + "|abcd|");
  struct Row {
    std::vector<std::int32_t> lengths;
    ddl::Fault fault;
    const char* what;
  };
  for (const Row& row : {
           Row{{-56, 4}, ddl::Fault::mismatch, "0 bytes for rank 0, which has 56"},
           Row{{-57, 4}, ddl::Fault::mismatch, "-1 bytes for rank 0, which has 56"},
           Row{{1, 4}, ddl::Fault::mismatch, "57 bytes for rank 0, which has 56"},
           Row{{0, -4}, ddl::Fault::mismatch, "the lengths of the ranks' texts are wrong"},
           Row{{0, most}, ddl::Fault::usage, "texts of 2147483703 bytes over all ranks, at most 1073741824"},
       }) {
    CAPTURE(row.what);
    const std::string what = gathered(mine, row.lengths, fault);
    CAPTURE(what);
    CHECK(what.find(row.what) != std::string::npos);
    CHECK(fault == row.fault);
  }
}

TEST_SUITE_END();
