// SPDX-License-Identifier: MIT
// A command line of ddl-train as it is meant: its args, what Caffe's files that it names say, and what the
// environment adds.
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

// Throws Error(usage) and, where a file of Caffe's cannot be read, Error(request).
CommandLine read_command_line(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
