// SPDX-License-Identifier: MIT
// Labelled image files: lists in the format of Caffe's ImageData layer, and one directory per class.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

// Subdirectories of a directory; the index of a name is the label.
struct ClassDirectories {
  std::string path;
  std::vector<std::string> names;  // in order
};

// A list of image files; all names share one string, for lists of millions.
class FileList {
 public:
  explicit FileList(std::string directory) : directory_(std::move(directory)) {}

  void add(std::string_view name, Label label);
  std::size_t count() const { return labels_.size(); }
  std::string_view name(std::size_t index) const;
  std::string path(std::size_t index) const;  // joined with the directory unless absolute
  Label label(std::size_t index) const { return labels_[index]; }
  const std::string& directory() const { return directory_; }  // where names begin; "": the working directory
  std::uint64_t fingerprint() const;                           // of names and labels, without the directory

  // The files of the test part, or the others. The hash of a name decides: each rank and each run find the
  // same part, and a file that is added moves no other one. Throws Error(request) where a class or the test
  // part would have no files.
  FileList part(double test_fraction, bool test) const;

  ClassDirectories classes;  // source of the labels, if any

 private:
  std::string directory_;
  std::string names_;
  std::vector<std::uint64_t> ends_;
  std::vector<Label> labels_;
};

// Pure: one "path label" per line; the label follows the last blank. Throws Error(request) with all invalid
// lines.
FileList parse_file_list(std::string_view text, const std::string& name, const std::string& directory);

// `classes.txt` beside the records of an LMDB: the class names in the order of their labels, one a line.
// Empty where there is none. Both throw Error(request): for a name with a slash; where it cannot be written.
std::vector<std::string> read_class_names(const std::string& directory);
void write_class_names(const std::string& directory, const std::vector<std::string>& names);

// Sorted names of the subdirectories of `directory`, hidden ones left out; none where it does not exist. This
// and what follows throw Error(request) for a directory that cannot be read.
std::vector<std::string> list_subdirectories(const std::string& directory);
// Those that contain images, at any depth.
std::vector<std::string> find_class_directories(const std::string& directory);
// Whether `directory` has the class directories itself: not photos/ with photos/training and photos/testing.
bool is_class_root(const std::string& directory);
// The images below each CLASS, in the order of list_files_below(). `training`: the classes of the training
// images; {} to detect them. Throws Error(request) if there are no images or a class is not among `training`.
FileList scan_class_directories(const std::string& directory, const ClassDirectories& training);

}  // namespace ddlrun::runtime
