// SPDX-License-Identifier: MIT
// Times backends in turns, so that the noise of a machine meets all of them alike.
#pragma once

#include "bench/ddl_bench/backend.hpp"
#include "bench/ddl_bench/pattern.hpp"
#include "bench/ddl_bench/results.hpp"
#include "bench/ddl_bench/world.hpp"

#include <functional>
#include <vector>

namespace ddlrun::ddl_bench {

struct MeasurePlan {
  double seconds = 0.3;  // for each way, with all its variants
  bool check = false;    // after every turn
  ddl::DataType type = ddl::DataType::float32;
  int local_ranks = 1;
  // Several hosts: what must pass between them for so many bytes and nothing else, as a participant of the
  // turns; the fastest case counts.
  std::function<std::vector<std::unique_ptr<Case>>(std::size_t bytes)> make_link;
  std::function<double()> now;  // seconds of a steady clock
};

// Collective; all ranks get the same result.
SizeResult measure_size(World& world, const std::vector<Backend>& backends, std::size_t bytes,
                        const MeasurePlan& plan);

}  // namespace ddlrun::ddl_bench
