// SPDX-License-Identifier: MIT
// -dump_iter and -rebind_iter of sums that NCCL makes: how fast they are, and whose GPU comes last.
#pragma once

#include "ddl/levels.hpp"
#include "ddl/ranks.hpp"
#include "ddl/speed.hpp"

#include <cstdint>

namespace ddl {

class GpuSpeed {
 public:
  // `every` 0: off.
  GpuSpeed(Ranks& ranks, const Grid& grid, std::uint64_t every) : ranks_(ranks), grid_(grid), every_(every) {}

  // A sum of so many bytes; `seconds` from when this rank's numbers were there until it had the sum.
  // Collective.
  void add(std::size_t bytes, double seconds);

 private:
  Ranks& ranks_;
  const Grid& grid_;
  std::uint64_t every_;
  std::uint64_t sums_ = 0;
  double bytes_ = 0.0;
  double seconds_ = 0.0;
  SpeedReport report_;
};

}  // namespace ddl
