// SPDX-License-Identifier: MIT
#include "base/os/path_owner.hpp"
#include "base/os/plugin.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

namespace ddlrun {
namespace {

constexpr int max_links = 40;  // as Linux: MAXSYMLINKS

struct Walk {
  std::string replaceable;  // the first step that another user can replace, and why
  bool is_shared = false;   // every user may create names in a directory of the path
};

Walk follow(const std::string& path) {
  std::error_code code;
  std::filesystem::path at = "/";
  const std::filesystem::path whole = std::filesystem::absolute(path, code);
  Walk walk;
  if (code) return walk;
  std::deque<std::filesystem::path> rest(std::next(whole.begin()), whole.end());
  bool is_shared = false;  // every user may create names in `at` or in a directory above it
  for (int links = 0; !rest.empty();) {
    const std::filesystem::path name = rest.front();
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    const std::filesystem::path next = at / name;
    struct stat found {};
    if (::lstat(next.c_str(), &found) != 0) break;
    if (is_shared && found.st_uid != ::geteuid() && found.st_uid != 0 && walk.replaceable.empty())
      walk.replaceable = fmt::format("{} belongs to user {}", printable(next.string()), found.st_uid);
    if (S_ISLNK(found.st_mode)) {
      const std::filesystem::path target = std::filesystem::read_symlink(next, code);
      if (code || ++links > max_links) break;
      if (target.is_absolute()) {
        at = "/";
        is_shared = false;
      }
      rest.insert(rest.begin(), target.begin(), target.end());
      if (target.is_absolute()) rest.pop_front();  // "/"
      continue;
    }
    at = next;
    const bool is_directory = S_ISDIR(found.st_mode);
    if ((!is_directory && !S_ISREG(found.st_mode)) || (found.st_mode & S_IWOTH) == 0) continue;
    const bool names_are_kept = is_directory && (found.st_mode & S_ISVTX) != 0;
    if (!names_are_kept && walk.replaceable.empty())
      walk.replaceable = fmt::format("every user can write to {}", printable(next.string()));
    if (is_directory) is_shared = walk.is_shared = true;
  }
  return walk;
}

}  // namespace

std::string find_replaceable_step(const std::string& path) { return follow(path).replaceable; }

std::string find_foreign_writer(const std::string& path) {
  struct stat file {
  }, program{};
  if (::stat(path.c_str(), &file) == 0 && file.st_uid != ::geteuid() && file.st_uid != 0) {
    const bool is_programs =
        ::stat(own_program_file().c_str(), &program) == 0 && program.st_uid == file.st_uid;
    if (!is_programs) return fmt::format("it belongs to user {}", file.st_uid);
  }
  return find_replaceable_step(path);
}

bool is_in_shared_directory(const std::string& path) { return follow(path).is_shared; }

}  // namespace ddlrun
