// SPDX-License-Identifier: MIT
// What lies at a path, told by looking at it: which kind of image set, and where its two parts are.
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

// One part of a set. `path`: the directory of idx and cifar, the LMDB, the list, the directory of class
// directories.
struct SplitPath {
  DataKind kind;
  std::string path;
  bool test;  // which part; of lmdb, list and directories the path itself says it
};
struct DatasetPaths {
  SplitPath train;
  SplitPath test;
};

// Reads the names of files only. Throws Error(request): nothing there that is known (saying what is), or a
// part that nobody names.
DatasetPaths locate_splits(const DataRequest& request);
// The part of an IDX directory and so on; nothing if there is none.
std::optional<SplitPath> detect_split(const std::string& path, bool test);
// The same, or an Error(request).
SplitPath require_split(const std::string& path, bool test);

// MNIST's four files: "" if this one is missing. `part` train or t10k, `kind` images or labels.
std::string find_idx_file(const std::string& directory, const std::string& part, const std::string& kind);

// Opens a part. `classes`: the training images' class directories, filled by them, used by the test.
SourcePtr open_split(const SplitPath& place, const DataRequest& request, ClassDirectories& classes);

}  // namespace ddlrun::runtime
