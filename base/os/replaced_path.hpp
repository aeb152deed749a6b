// SPDX-License-Identifier: MIT
// Where a file that is to be replaced as a whole really lies, and whether it may be replaced at all.
#pragma once

#include <sys/stat.h>

#include <string>

namespace ddlrun {

// What `path` leads to in the end, also if that is not there yet.
std::string follow_links(std::string path);

// What a write to `path` replaces, found link by link. Each link and the file are held open while they are
// judged: no other user can exchange them meanwhile.
class ReplacedPath {
 public:
  // In a directory in which every user may create names, a link of another user is not followed (EACCES), as
  // with fs.protected_symlinks of Linux; root's and the user's own are.
  explicit ReplacedPath(std::string path);
  ~ReplacedPath();
  ReplacedPath(const ReplacedPath&) = delete;
  ReplacedPath& operator=(const ReplacedPath&) = delete;

  int error() const { return error_; }  // an errno; 0: none, also for a new file
  bool exists() const { return handle_ >= 0; }
  const struct stat& status() const { return status_; }  // of what exists
  const std::string& path() const { return path_; }      // no link
  // A descriptor for writing to what exists, or -1 with errno.
  int open_for_writing() const;
  // The permission bits that a new file in its place gets: those of the old file, but not those of another
  // user's file in a directory of all users, who could then write to the new one.
  bool keeps_mode() const;

 private:
  bool open_step();
  bool is_planted() const;  // of another user, in a directory of all users

  std::string path_;
  int handle_ = -1;
  int error_ = 0;
  struct stat status_ {};
};

// The stream of ours (stdout, stderr) that goes to the file of this stat, else -1: it has its own place
// there, and would keep a file that is replaced.
int find_own_stream(const struct stat& status);

}  // namespace ddlrun
