// SPDX-License-Identifier: MIT
// Labelled image files: lists as Caffe's ImageData layer reads them, and directories with a directory for
// each class.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Folders in a directory; the place of a name is the label.
struct ClassDirectories {
  std::string path;
  std::vector<std::string> names;  // in order
};

// Millions of names are kept as one text.
class FileList {
 public:
  explicit FileList(std::string directory) : directory_(std::move(directory)) {}

  void add(std::string_view name, Label label);
  std::size_t count() const { return labels_.size(); }
  std::string_view name(std::size_t index) const;
  std::string path(std::size_t index) const;  // with the directory, unless the name begins with /
  Label label(std::size_t index) const { return labels_[index]; }
  std::uint64_t fingerprint() const;  // of names and labels, without the directory

  ClassDirectories classes;  // those that gave the labels, if any

 private:
  std::string directory_;
  std::string names_;
  std::vector<std::uint64_t> ends_;
  std::vector<Label> labels_;
};

// Pure: "path label" a line, the label behind the last blank. Throws Error(request) with all wrong lines.
FileList parse_file_list(std::string_view text, const std::string& name, const std::string& directory);

// Folders with images in `directory`, their names in order.
std::vector<std::string> find_class_directories(const std::string& directory);
// CLASS/*.{jpg,jpeg,png,ppm,pgm,pnm}. `training`: the classes of the training images, {} to find them. Throws
// Error(request): no images, or a class that training does not know.
FileList scan_class_directories(const std::string& directory, const ClassDirectories& training);

}  // namespace ddlrun::runtime
