// SPDX-License-Identifier: MIT
// Converts Caffe's files to options of ddl-train; options on the command line take precedence.
#pragma once

#include "runtime/caffe/caffe_run.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CaffeOptions {
  std::vector<std::string> args;        // of the user, then of the files
  std::vector<std::string> overridden;  // "--lr 0.02 instead of base_lr 0.01"
  std::vector<std::string> from_files;  // names of the options from the files
};
// Throws Error(request) where the net's data cannot be read and --data is not given.
CaffeOptions merge_caffe_options(const CaffeRun& run, std::span<const std::string> args);

// A command line as it is meant, and what Caffe's files that it names say: nothing if it names none.
struct CaffeCommand {
  CaffeOptions line;
  CaffeRun run;
};
// Reads the files of --solver and of --net FILE.prototxt. Throws Error(request) also where these name a mean
// image that is not there.
CaffeCommand read_caffe_command(std::span<const std::string> args);
// The messages at the start of a run with Caffe files; "" without any.
std::string render_caffe(const CaffeCommand& command, std::string_view program, std::size_t test_images);
// What the names in a list of the net's begin with: nothing if it is no list, or --data names another
// location.
std::optional<std::string> find_list_root(const CaffeCommand& command, const std::string& data);

// A note if test_iter does not cover all test images, which every test uses.
std::optional<Message> check_test_size(const CaffeRun& run, std::size_t test_images);

}  // namespace ddlrun::runtime
