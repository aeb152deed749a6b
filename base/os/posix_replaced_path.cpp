// SPDX-License-Identifier: MIT
#include "base/os/replaced_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace ddlrun {

namespace {

constexpr int most_links = 40;  // as the kernel

}  // namespace

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
