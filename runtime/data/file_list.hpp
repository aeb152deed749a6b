// SPDX-License-Identifier: MIT
// Labelled image files: lists as Caffe's ImageData layer reads them, and folders with a folder for each
// class.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Folders in a folder; the place of a name is the label.
struct ClassFolders {
  std::string path;
  std::vector<std::string> names;  // in order
};

// Millions of names are kept as one text.
class FileList {
 public:
  explicit FileList(std::string folder) : folder_(std::move(folder)) {}

  void add(std::string_view name, Label label);
  std::size_t count() const { return labels_.size(); }
  std::string_view name(std::size_t index) const;
  std::string path(std::size_t index) const;  // with the folder, unless the name begins with /
  Label label(std::size_t index) const { return labels_[index]; }
  std::uint64_t fingerprint() const;  // of names and labels, without the folder

  ClassFolders classes;  // those that gave the labels, if any

 private:
  std::string folder_;
  std::string names_;
  std::vector<std::uint64_t> ends_;
  std::vector<Label> labels_;
};

// Pure: "path label" a line, the label behind the last blank. Throws Error(request) with all wrong lines.
FileList parse_file_list(std::string_view text, const std::string& name, const std::string& folder);

// Folders with images in `folder`, their names in order.
std::vector<std::string> find_class_folders(const std::string& folder);
// CLASS/*.{jpg,jpeg,png,ppm,pgm,pnm}. `training`: the classes of the training images, {} to find them. Throws
// Error(request): no images, or a class that training does not know.
FileList scan_class_folders(const std::string& folder, const ClassFolders& training);

}  // namespace ddlrun::runtime
