// SPDX-License-Identifier: MIT
// Caffe's solver.prototxt as a value.
#pragma once

#include "runtime/caffe/caffe_report.hpp"
#include "runtime/training/lr_schedule.hpp"
#include "runtime/training/optimizer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

struct CaffeSolver {
  std::string file;      // the solver's own name
  std::string net;       // the training net's file as written; "": it is written in the solver
  std::string test_net;  // the same of a separate test net; "": the training net has both phases

  LrSchedule schedule;  // peak: base_lr; total_steps: max_iter
  Optimizer optimizer;
  std::size_t max_iter = 0;
  std::size_t iter_size = 1;  // batches per step (gradient accumulation)
  std::size_t test_iter = 0;  // batches of a test; 0: not set
  std::size_t test_interval = 0;
  std::size_t snapshot = 0;  // steps between two; 0: none
  std::string snapshot_prefix;
  std::optional<std::uint64_t> random_seed;
  bool wants_gpu = true;  // Caffe's default
};

// Pure: only the solver's own fields, the nets written in it left out. What is wrong goes into `report`.
// Throws Error(request) only where the text is no prototxt.
CaffeSolver parse_caffe_solver(std::string_view text, const std::string& file_name, CaffeReport& report);

}  // namespace ddlrun::runtime
