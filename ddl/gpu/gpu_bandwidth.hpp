// SPDX-License-Identifier: MIT
// -dump_iter and -rebind_iter of sums that NCCL makes: how fast they are, and whose GPU comes last.
#pragma once

#include "ddl/collectives/bandwidth.hpp"
#include "ddl/core/grid.hpp"
#include "ddl/transport/transport.hpp"

#include <cstdint>

namespace ddl {

class GpuBandwidth {
 public:
  // `every` 0: off.
  GpuBandwidth(Transport& transport, const Grid& grid, std::uint64_t every)
      : transport_(transport), grid_(grid), every_(every) {}

  // A sum of so many bytes; `seconds` from when this rank's numbers were there until it had the sum.
  // Collective.
  void add(std::size_t bytes, double seconds);

 private:
  Transport& transport_;
  const Grid& grid_;
  std::uint64_t every_;
  std::uint64_t sums_ = 0;
  double bytes_ = 0.0;
  double seconds_ = 0.0;
  BandwidthReport report_;
};

}  // namespace ddl
