// SPDX-License-Identifier: MIT
// What a user wrote and would miss: options that do not count in this run, and numbers that cannot be meant.
// Nothing of it stops a run.
#pragma once

#include "base/error.hpp"
#include "runtime/app/train_options.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// What the options meet.
struct RunContext {
  std::string data_kind;  // Dataset's
  std::size_t total_steps = 0;
  std::size_t processors = 0;  // that this rank may use
  int outputs = 0;             // of the net
  int classes = 0;             // of the data
  std::string last_layer;      // where it is written
  bool caffe_net = false;
  std::span<const std::string> from_files;  // options that Caffe's files brought, and no user wrote
};

std::vector<Message> find_option_warnings(const TrainOptions& options, const RunContext& run);

}  // namespace ddlrun::runtime
