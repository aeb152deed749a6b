// SPDX-License-Identifier: MIT
#include "base/text/write_remedy.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace ddlrun {

std::string write_remedy(int code, const std::string& path) {
  const std::string file = quote_shell(path);
  const std::string place = quote_shell(directory_of(path));
  switch (code) {
    case EFBIG:
      return "ulimit -f unlimited   # ulimit -f shows the largest file that this shell allows, in KiB";
    case EDQUOT:
      return fmt::format("quota -s; df -h {0}   # your own share of that disk is full", place);
    case ENOSPC:
      return fmt::format("df -h {0}; df -i {0}   # room and files", place);
    case EROFS:
      return fmt::format("findmnt -T {}   # it is mounted read-only", place);
    case EACCES:
    case EPERM:
      return fmt::format("ls -ld {0} {1}; id   # a place where you may write", place, file);
    case ENOENT:
      return fmt::format("mkdir -p {}", place);
    case EISDIR:
      return fmt::format("ls -ld {}   # name a file in it", file);
    case ENOTDIR:
      return fmt::format("ls -ld {}   # a file stands where a directory is needed", place);
    default:
      return fmt::format("df -h {0}; ls -ld {0}", place);
  }
}

}  // namespace ddlrun
