// SPDX-License-Identifier: MIT
// Detects the format of a data set and finds its training and test split.
#pragma once

#include "runtime/data/data_request.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

enum class DataKind { idx, cifar10, cifar100, lmdb, list, directories, synthetic };
const char* name_of(DataKind kind);  // "MNIST's IDX files"
bool is_in_files(DataKind kind);     // each image is a file

// One split of a data set. `path`: the directory of idx and cifar, the LMDB, the list, or the directory of
// class directories.
struct SplitPath {
  DataKind kind;
  std::string path;
  bool test;  // the split; for lmdb, list and directories the path decides
};
struct DatasetPaths {
  SplitPath train;
  SplitPath test;
};

// Reads file names only. Throws Error(request) if no format matches (listing what is there) or a split is
// missing.
DatasetPaths locate_splits(const DataRequest& request);
// The split at `path`; empty if there is none.
std::optional<SplitPath> detect_split(const std::string& path, bool test);
// The same; throws Error(request) if there is none.
SplitPath require_split(const std::string& path, bool test);

// Path of one of MNIST's four files; "" if it is missing. `part`: train or t10k, `kind`: images or labels.
std::string find_idx_file(const std::string& directory, const std::string& part, const std::string& kind);

// The files of a split of kind list or directories. `classes`: as for open_split().
FileList list_files(const SplitPath& place, const DataRequest& request, const ClassDirectories& classes);

// Opens a split. `classes`: class directories; filled from the training images, used for the test images.
SourcePtr open_split(const SplitPath& place, const DataRequest& request, ClassDirectories& classes);

}  // namespace ddlrun::runtime
