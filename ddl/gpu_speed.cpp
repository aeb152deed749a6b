// SPDX-License-Identifier: MIT
#include "ddl/gpu_speed.hpp"

#include "ddl/speed_watch.hpp"

namespace ddl {

void GpuSpeed::add(std::size_t bytes, double seconds) {
  if (every_ == 0) return;
  bytes_ += static_cast<double>(bytes);
  seconds_ += seconds;
  if (++sums_ < every_) return;
  report_speed(ranks_, grid_, {{{nccl_dimension, bytes_, seconds_}}, seconds_}, sums_, report_);
  sums_ = 0;
  bytes_ = seconds_ = 0.0;
}

}  // namespace ddl
