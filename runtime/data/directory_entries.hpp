// SPDX-License-Identifier: MIT
// What lies in directories of images. What the system refuses to show is an error: a training on fewer images
// than the user has looks like any other.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

enum class EntryKind { none, file, directory, other };

// What `path` is, behind links. Throws Error(request) where the system does not say.
EntryKind kind_of(const std::string& path);
bool is_file(const std::string& path);
bool is_directory(const std::string& path);
// Throws Error(request) for a directory whose files may not be opened.
void require_search(const std::string& directory);

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};
// Sorted by name; without hidden names and without lost+found, which only root may read. Empty where
// `directory` does not exist. Throws Error(request): it cannot be read, or a link in it leads nowhere.
std::vector<DirectoryEntry> list_entries(const std::string& directory);

}  // namespace ddlrun::runtime
