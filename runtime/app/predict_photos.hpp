// SPDX-License-Identifier: MIT
// Classes of photos by a checkpoint.
#pragma once

#include "base/text/error.hpp"
#include "runtime/checkpoint/saved_model.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::runtime {

enum class PredictionFormat { text, json, csv };

struct PredictRequest {
  std::string checkpoint;           // a file, `best`, or a directory
  std::vector<std::string> photos;  // files, and directories: all images in them, at any depth
  std::size_t top = 3;
  PredictionFormat format = PredictionFormat::text;
};

// The images at `path`: itself, or, of a directory, those in it at any depth, in order. Throws Error(request)
// where a directory has none.
struct FoundPhotos {
  std::vector<std::string> photos;
  std::vector<std::string> unread;  // images of formats that are not read
};
FoundPhotos find_photos(const std::string& path);

// "3 images are of formats that are not read: a.webp, b.tif, c.heic"
Message describe_unread_photos(const std::string& path, const std::vector<std::string>& unread);

// Prints a line for each photo; photos that cannot be used are reported on stderr and the others are printed.
// Returns the exit status. Throws Error(request) if the checkpoint cannot be read.
int predict_photos(const char* program, const PredictRequest& request);

struct ClassShare {
  std::string name;
  double share = 0.0;
};
// The `top` most probable classes, in order.
std::vector<ClassShare> rank_classes(const SavedModel& model, const std::vector<double>& shares,
                                     std::size_t top);

// {"file": ..., "classes": [{"name": ..., "probability": ...}]}
std::string render_prediction_json(const std::string& file, const std::vector<ClassShare>& classes);

// RFC 4180: file,class,probability,directory_class and a column for each class.
std::string render_csv_header(const SavedModel& model);
std::string render_prediction_csv(const SavedModel& model, const std::string& file,
                                  const std::vector<double>& shares);

}  // namespace ddlrun::runtime
