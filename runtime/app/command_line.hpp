// SPDX-License-Identifier: MIT
// A command line of ddl-train as it is meant: its words, what Caffe's files that it names say, and what the
// environment adds.
#pragma once

#include "runtime/app/train_options.hpp"
#include "runtime/caffe/caffe_options.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

struct TrainLine {
  TrainOptions options;
  CaffeCommand caffe;
};

// Throws Error(usage) and, where a file of Caffe's cannot be read, Error(request).
TrainLine read_train_line(const std::vector<std::string>& words);

}  // namespace ddlrun::runtime
