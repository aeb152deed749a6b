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

enum class DataKind { idx, cifar10, cifar100, lmdb, list, folders, synthetic };
const char* name_of(DataKind kind);  // "MNIST's IDX files"

// One part of a set. `path`: the folder of idx and cifar, the LMDB, the list, the folder of class folders.
struct PartPlace {
  DataKind kind;
  std::string path;
  bool test;  // which part; of lmdb, list and folders the path itself says it
};
struct SetPlace {
  PartPlace train;
  PartPlace test;
};

// Reads the names of files only. Throws Error(request): nothing there that is known (saying what is), or a
// part that nobody names.
SetPlace find_parts(const DataRequest& request);
// The part of an IDX folder and so on; nothing if there is none.
std::optional<PartPlace> look_at(const std::string& path, bool test);
// The same, or an Error(request).
PartPlace require_part(const std::string& path, bool test);

// MNIST's four files: "" if this one is missing. `part` train or t10k, `kind` images or labels.
std::string find_idx_file(const std::string& folder, const std::string& part, const std::string& kind);

// Opens a part. `classes`: the training images' class folders, filled by them, used by the test.
SourcePtr open_part(const PartPlace& place, const DataRequest& request, ClassFolders& classes);

}  // namespace ddlrun::runtime
