// SPDX-License-Identifier: MIT
#include "runtime/data/directory_entries.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/data/image_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ddlrun::runtime {
namespace {

std::string remedy_unread(const std::string& path, int code) {
  const std::string word = quote_shell(path);
  if (code == EACCES) return fmt::format("ls -ld {0}; id   # where it is yours: chmod -R u+rX {0}", word);
  if (code == ENOENT || code == ELOOP)
    return fmt::format("ls -l {0}   # correct this link, or remove it: rm {0}", word);
  return "ls -ld " + word;
}

Error refuse_unread(const std::string& what, const std::string& path, int code) {
  return {ErrorKind::request,
          {fmt::format("{}: {}", what, std::strerror(code)), printable(path), remedy_unread(path, code)}};
}

Error refuse_search(const std::string& directory, int code) {
  return refuse_unread("the files in this directory cannot be opened", directory, code);
}

// The directory above `path` that may not be searched.
std::string blocking_directory(const std::string& path) {
  std::string directory = directory_of(path);
  struct stat status {};
  while (stat(directory.c_str(), &status) != 0 && errno == EACCES && directory != directory_of(directory))
    directory = directory_of(directory);
  return directory;
}

bool is_hidden(const std::string& name) { return name.starts_with('.') || name == "lost+found"; }

// A link that leads nowhere may stand for a directory of images. Reading reports one that stands for an
// image.
bool leads_to_directory(const std::filesystem::directory_entry& entry) {
  std::error_code failure;
  const bool directory = entry.is_directory(failure);  // asks the system for links alone
  if (!failure) return directory;
  const int code = failure.value();
  if (code == ENOENT && has_image_name(entry.path().filename().string())) return false;
  const char* what = code == ENOENT || code == ELOOP ? "a link among the images leads nowhere"
                                                     : "a name among the images cannot be looked up";
  throw refuse_unread(what, entry.path().string(), code);
}

}  // namespace

EntryKind kind_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0)
    return S_ISREG(status.st_mode)   ? EntryKind::file
           : S_ISDIR(status.st_mode) ? EntryKind::directory
                                     : EntryKind::other;
  const int code = errno;
  if (code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG) return EntryKind::none;
  if (code == EACCES) {
    const std::string blocking = blocking_directory(path);
    if (faccessat(AT_FDCWD, blocking.c_str(), X_OK, AT_EACCESS) != 0) throw refuse_search(blocking, code);
    throw Error(
        ErrorKind::request,
        {fmt::format("this link leads into a directory that may not be searched: {}", std::strerror(code)),
         printable(path), "namei -l " + quote_shell(path)});
  }
  throw refuse_unread("the data cannot be looked up", path, code);
}

bool is_file(const std::string& path) { return kind_of(path) == EntryKind::file; }
bool is_directory(const std::string& path) { return kind_of(path) == EntryKind::directory; }

void require_search(const std::string& directory) {
  if (faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) != 0) throw refuse_search(directory, errno);
}

std::vector<DirectoryEntry> list_entries(const std::string& directory) {
  std::vector<DirectoryEntry> entries;
  std::error_code failure;
  std::filesystem::directory_iterator at(directory, failure);
  if (failure == std::errc::no_such_file_or_directory || failure == std::errc::not_a_directory) return {};
  for (const std::filesystem::directory_iterator end; !failure && at != end; at.increment(failure)) {
    std::string name = at->path().filename().string();
    if (!is_hidden(name)) entries.push_back({std::move(name), leads_to_directory(*at)});
  }
  if (failure) throw refuse_unread("the directory cannot be read", directory, failure.value());
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

}  // namespace ddlrun::runtime
