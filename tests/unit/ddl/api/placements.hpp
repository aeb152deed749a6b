// SPDX-License-Identifier: MIT
// Ranks on hosts in every arrangement, numbers whose sums are known, and a count of what is wrong.
#pragma once

#include "ddl/ddl.hpp"
#include "tests/support/thread_contexts.hpp"

#include <atomic>
#include <string>
#include <vector>

namespace ddl::tests {

struct Placement {
  std::string dims;
  std::vector<std::string> hosts;
};

inline std::vector<Placement> placements() {
  return {{"", {"h0"}},
          {"", packed_hosts(1, 3)},
          {"", packed_hosts(3, 1)},
          {"2x2x1", packed_hosts(2, 2)},
          {"2x2x1", interleaved_hosts(2, 2)},
          {"2x2x2", interleaved_hosts(4, 2)},
          {"1x2x2x2", packed_hosts(8, 1)},
          {"3x3", packed_hosts(3, 3)},
          {"", {"h0", "h1", "h1"}}};  // uneven
}

inline Options with_dims(const std::string& dims) {
  Options options;
  options.dims = dims;
  return options;
}

// Rank r's element i; sums of all ranks are exact in float32.
inline float element(int rank, std::size_t i) {
  return static_cast<float>(rank + 1) * static_cast<float>(i % 1000 + 1);
}

inline double sum_of_factors(int ranks) { return ranks * (ranks + 1) / 2.0; }

// What the ranks counted, since doctest's checks are not for many threads.
struct Wrong {
  std::atomic<int> values{0};
  void unless(bool right) {
    if (!right) ++values;
  }
};

}  // namespace ddl::tests
