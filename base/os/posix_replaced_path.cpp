// SPDX-License-Identifier: MIT
#include "base/os/replaced_path.hpp"
#include "base/text/text.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace ddlrun {

namespace {

constexpr int most_links = 40;  // as the kernel

// /dev/stdout and /proc/self/fd/N end at such a link: what it leads to may have no name.
bool is_of_proc(int link) {
  struct statfs system {};
  return ::fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

ReplacedPath::ReplacedPath(std::string path) : path_(std::move(path)) {
  for (int i = 0; i <= most_links; ++i) {
    if (!open_step() || !S_ISLNK(status_.st_mode)) return;
    if (is_planted()) {
      error_ = EACCES;
      return;
    }
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(handle_, "", target.data(), target.size());
    if (length < 0) {
      error_ = errno;
      return;
    }
    const std::string_view next(target.data(), static_cast<std::size_t>(length));
    path_ = (std::filesystem::path(path_).parent_path() / next).string();
  }
  error_ = ELOOP;
}

ReplacedPath::~ReplacedPath() {
  if (handle_ >= 0) ::close(handle_);
}

// Takes hold of what is at the path: a link as itself, but one of /proc that leads to no ordinary file as its
// end.
bool ReplacedPath::open_step() {
  if (handle_ >= 0) ::close(handle_);
  handle_ = ::open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (handle_ < 0 || ::fstat(handle_, &status_) != 0) {
    if (errno != ENOENT) error_ = errno;
    return false;
  }
  if (!S_ISLNK(status_.st_mode) || !is_of_proc(handle_)) return true;
  const int end = ::open(path_.c_str(), O_PATH | O_CLOEXEC);
  struct stat at_end {};
  const bool is_end =
      end >= 0 && ::fstat(end, &at_end) == 0 && (!S_ISREG(at_end.st_mode) || find_own_stream(at_end) >= 0);
  if (is_end) {
    ::close(std::exchange(handle_, end));
    status_ = at_end;
  } else if (end >= 0) {
    ::close(end);
  }
  return true;
}

bool ReplacedPath::is_planted() const {
  struct stat directory {};
  if (status_.st_uid == ::geteuid() || status_.st_uid == 0) return false;
  return ::stat(directory_of(path_).c_str(), &directory) != 0 || (directory.st_mode & S_IWOTH) != 0;
}

int ReplacedPath::open_for_writing() const {
  return ::open(("/proc/self/fd/" + std::to_string(handle_)).c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

bool ReplacedPath::keeps_mode() const { return exists() && !is_planted(); }

std::string follow_links(std::string path) {
  for (int i = 0; i < most_links; ++i) {
    std::error_code no_link;
    const auto next = std::filesystem::read_symlink(path, no_link);
    if (no_link) break;
    path = (std::filesystem::path(path).parent_path() / next).string();
  }
  return path;
}

int find_own_stream(const struct stat& status) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(stream, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino)
      return stream;
  }
  return -1;
}

}  // namespace ddlrun
