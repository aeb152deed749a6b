// SPDX-License-Identifier: MIT
// Warnings about options without effect in this run and about implausible values. They never stop a run.
#pragma once

#include "base/text/error.hpp"
#include "runtime/app/train_options.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Properties of the run that decide whether an option has an effect.
struct RunContext {
  std::string data_kind;  // Dataset's
  std::size_t total_steps = 0;
  std::size_t processors = 0;  // that this rank may use
  int outputs = 0;             // of the net
  int classes = 0;             // of the data
  std::string last_layer;      // where it is written
  bool caffe_net = false;
  std::span<const std::string> from_files;  // options set by Caffe's files, not by the user
};

// A run that drops more than a tenth of its training images in each epoch.
std::optional<Message> find_dropped_images(const RunFacts& facts);

std::vector<Message> find_option_warnings(const TrainOptions& options, const RunContext& run);

}  // namespace ddlrun::runtime
