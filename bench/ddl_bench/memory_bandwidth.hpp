// SPDX-License-Identifier: MIT
// What memory can do at most for a sum on one host: the reads and writes of the host stage and nothing else.
#pragma once

#include <cstddef>
#include <vector>

namespace ddlrun::ddl_bench {

// A rank's share of a sum of `ranks` vectors of `bytes` in all: it reads its slice of each and writes the sum
// into each; or, `once`, adds the sum to its slice of one more, and leaves the others. Private memory: no
// other rank is waited for or met.
class MemoryBandwidth {
 public:
  MemoryBandwidth(std::size_t bytes, int ranks, bool once);
  void pass();

 private:
  std::size_t slice_;  // floats
  std::size_t ranks_;
  bool once_;
  std::vector<float> memory_;
};

}  // namespace ddlrun::ddl_bench
