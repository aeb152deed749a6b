// SPDX-License-Identifier: MIT
// Loss, accuracy and confusion matrix of a checkpoint on test images.
#pragma once

#include <cstddef>
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
};

// The accuracy of each class, and the matrix as a table; of more than 16 classes the most frequent
// confusions.
std::string render_confusion(const ConfusionMatrix& matrix);

struct CheckpointTest {
  std::string data;
  std::size_t images = 0;
  double accuracy = 0.0;
  double loss = 0.0;  // of an image
  ConfusionMatrix matrix;
};
// {"schema": "ddl-train.test/1", "accuracy": ..., "classes": [...], "confusion": [[...]]}
std::string render_test_json(const CheckpointTest& test);

// Prints them. `data`: as --data, "" to search. Throws Error(request).
void test_checkpoint(const std::string& checkpoint, const std::string& data, bool json);

}  // namespace ddlrun::runtime
