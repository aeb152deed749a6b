// SPDX-License-Identifier: MIT
#include "ddl/gpu/gpu_bandwidth.hpp"

#include "ddl/collectives/bandwidth_monitor.hpp"

namespace ddl {

void GpuBandwidth::add(std::size_t bytes, double seconds) {
  if (every_ == 0) return;
  bytes_ += static_cast<double>(bytes);
  seconds_ += seconds;
  if (++sums_ < every_) return;
  report_bandwidth(transport_, grid_, {{{nccl_dimension, bytes_, seconds_}}, seconds_}, sums_, report_);
  sums_ = 0;
  bytes_ = seconds_ = 0.0;
}

}  // namespace ddl
