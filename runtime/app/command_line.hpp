// SPDX-License-Identifier: MIT
// The resolved command line of ddl-train: its arguments, the options from Caffe's files, and those from the
// environment.
#pragma once

#include "runtime/app/train_options.hpp"
#include "runtime/caffe/caffe_options.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CommandLine {
  TrainOptions options;
  CaffeCommand caffe;
};

// Throws Error(usage), or Error(request) if a Caffe file cannot be read.
CommandLine read_command_line(const std::vector<std::string>& args, TypedAt typed = TypedAt::program);

}  // namespace ddlrun::runtime
