// SPDX-License-Identifier: MIT
#include "ddl/gpu_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace ddl {

void GpuSpeed::add(std::size_t bytes, double seconds) {
  if (every_ == 0) return;
  bytes_ += static_cast<double>(bytes);
  seconds_ += seconds;
  if (++sums_ < every_) return;
  std::vector<SpeedSample> samples;
  std::vector<std::string> names;
  for (const std::string& text :
       ranks_.gather(render_sample({{{nccl_dimension, bytes_, seconds_}}, seconds_}))) {
    names.push_back(grid_.name_of(static_cast<int>(samples.size())));
    samples.push_back(parse_sample(text));
  }
  if (ranks_.rank() == 0) fmt::print(stderr, "{}\n", report_.add(without_waiting(samples), names, sums_));
  sums_ = 0;
  bytes_ = seconds_ = 0.0;
}

}  // namespace ddl
