// SPDX-License-Identifier: MIT
// What Caffe's files say, said in ddl-train's own options: those that the user writes win.
#pragma once

#include "runtime/caffe/caffe_run.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CaffeWords {
  std::vector<std::string> words;       // the user's, then those of the files
  std::vector<std::string> overridden;  // "--lr 0.02 instead of base_lr 0.01"
  std::vector<std::string> laid;        // options that the files brought
};
// Throws Error(request) where the net's data cannot be read and --data is not given.
CaffeWords lay_caffe_under(const CaffeRun& run, std::span<const std::string> words);

// A command line as it is meant, and what Caffe's files that it names say: nothing if it names none.
struct CaffeCommand {
  CaffeWords line;
  CaffeRun run;
};
// Reads the files of --solver and of --net FILE.prototxt. Throws Error(request) also where these name a mean
// image that is not there.
CaffeCommand read_caffe_command(std::span<const std::string> words);
// What a user is told at the start, notes and all; "" without files of Caffe's.
std::string render_caffe(const CaffeCommand& command, std::string_view program, std::size_t test_images);
// What the names in a list of the net's begin with: nothing if it is no list, or --data names another place.
std::optional<std::string> find_list_root(const CaffeCommand& command, const std::string& data);

// Tests take all images: what is said otherwise, if it is.
std::optional<Message> check_test_size(const CaffeRun& run, std::size_t test_images);

}  // namespace ddlrun::runtime
