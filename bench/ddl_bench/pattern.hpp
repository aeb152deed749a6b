// SPDX-License-Identifier: MIT
// Numbers whose sum over all ranks is known in closed form, and exact in every type.
#pragma once

#include "ddl/data_type.hpp"

#include <cstddef>
#include <span>

namespace ddlrun::ddl_bench {

// Element i of rank r: (h(i) + r) mod p, h a hash and p a small power of two, so that elements which stray to
// another place are seen.
class Pattern {
 public:
  Pattern(ddl::DataType type, int ranks);

  double value(std::size_t element, int rank) const;
  double sum(std::size_t element) const;
  void fill(std::span<std::byte> data, int rank) const;
  // How many elements are not the sum.
  std::size_t count_wrong(std::span<const std::byte> data) const;

 private:
  ddl::DataType type_;
  unsigned ranks_;
  unsigned period_;
  double tolerance_;  // relative; 0 where sums are exact
};

}  // namespace ddlrun::ddl_bench
