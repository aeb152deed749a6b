// SPDX-License-Identifier: MIT
// Loss, accuracy and confusion matrix of a checkpoint on test images.
#pragma once

#include "runtime/checkpoint/saved_model.hpp"
#include "runtime/data/dataset.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Test images by their class and by the predicted one.
struct ConfusionMatrix {
  std::vector<std::string> names;
  std::vector<std::size_t> counts;  // [class of the image][predicted class]

  std::size_t at(std::size_t actual, std::size_t predicted) const {
    return counts[actual * names.size() + predicted];
  }
  std::size_t images_of(std::size_t actual) const;
  // Nothing where a class has no images, or none is predicted as it.
  std::optional<double> recall(std::size_t label) const;  // the accuracy of the class
  std::optional<double> precision(std::size_t label) const;
  std::optional<double> f1(std::size_t label) const;
};

// Accuracy, precision and F1 of each class, and the matrix as a table; of more than 16 classes the most
// frequent confusions.
std::string render_confusion(const ConfusionMatrix& matrix);

struct WrongImage {
  std::string image, actual, predicted;
  double probability = 0.0;  // of the predicted class
};
std::string render_wrong(const std::vector<WrongImage>& wrong);

struct CheckpointTest {
  std::string data;
  std::size_t images = 0;
  double accuracy = 0.0;
  double loss = 0.0;  // of an image
  ConfusionMatrix matrix;
  std::optional<std::vector<WrongImage>> wrong = {};  // where it is asked for
};
// {"schema": "ddl-train.test/1", "accuracy": ..., "classes": [...], "confusion": [[...]]}
std::string render_test_json(const CheckpointTest& test);

struct TestRequest {
  std::string checkpoint;
  std::string data;  // as --data; "": those of the checkpoint's training
  bool json = false;
  bool errors = false;      // names the images with a wrong prediction
  bool all_images = false;  // also those that --val-fraction gave to the training
};
// The data to test on, and why. Throws Error(request) where neither `asked` nor the checkpoint names any that
// exist.
DatasetPath find_test_data(const std::string& asked, const SavedModel& model);

// Prints the test. Throws Error(request).
void test_checkpoint(const TestRequest& request);

}  // namespace ddlrun::runtime
