// SPDX-License-Identifier: MIT
// Classes of photos by a checkpoint.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct PredictRequest {
  std::string checkpoint;           // a file, `best`, or a directory
  std::vector<std::string> photos;  // files, and directories: all images in them, at any depth
  std::size_t top = 3;
  bool json = false;
};

// The names of images at `path`: itself, or, of a directory, those in it at any depth, in order.
std::vector<std::string> find_photos(const std::string& path);

// Prints a line for each photo; a photo that cannot be used is reported on stderr and the others are printed.
// Returns the exit status. Throws Error(request) if the checkpoint cannot be read.
int predict_photos(const char* program, const PredictRequest& request);

// "cat 97.1 %, dog 2.9 %" as JSON: {"file": ..., "classes": [{"name": ..., "probability": ...}]}
struct ClassShare {
  std::string name;
  double share = 0.0;
};
std::string render_prediction_json(const std::string& file, const std::vector<ClassShare>& classes);

}  // namespace ddlrun::runtime
