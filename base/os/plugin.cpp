// SPDX-License-Identifier: MIT
#include "base/os/plugin.hpp"

#include "base/os/path_owner.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>

namespace ddlrun {
namespace {

[[noreturn]] void refuse_plugin(const std::string& path) {
  const char* why = ::dlerror();
  throw Error(ErrorKind::request, {"cannot load the plug-in: " + printable(why == nullptr ? "" : why, 400),
                                   path, "ldd " + quote_shell(path)});
}

// Root, this user and the owner of the running program may write a plug-in.
bool is_trusted(const std::string& path) {
  struct stat found {
  }, program{};
  if (::stat(path.c_str(), &found) != 0) return true;  // dlopen() reports why
  const uid_t owner = ::stat("/proc/self/exe", &program) == 0 ? program.st_uid : ::geteuid();
  const bool anybody_writes = (found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0;
  return !anybody_writes && (found.st_uid == 0 || found.st_uid == ::geteuid() || found.st_uid == owner);
}

}  // namespace

// "55d0c0a00000-55d0c0a2e000 r-xp 00010000 fd:00 4711      /usr/bin/ddlrun": the file of this function's
// line.
std::string own_program_file() {
  std::ifstream maps("/proc/self/maps");
  const auto here = reinterpret_cast<std::uintptr_t>(&own_program_file);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    const std::from_chars_result first = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
    if (first.ptr < line.data() + line.size())
      std::from_chars(first.ptr + 1, line.data() + line.size(), end, 16);
    const std::size_t path = line.find('/');
    if (begin <= here && here < end && path != std::string::npos) return line.substr(path);
  }
  return {};
}

Plugin Plugin::open_own(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  if (!is_trusted(path) || !is_trusted(directory) || !find_replaceable_step(path).empty())
    throw Error(ErrorKind::request,
                {"the plug-in is not loaded: another user can write to it or to its directory", path,
                 fmt::format("ls -ld {} {}", quote_shell(path), quote_shell(directory))});
  return open(path);
}

Plugin Plugin::open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse_plugin(path);
  // Never closed: drivers leave threads and exit handlers behind.
  return Plugin(std::shared_ptr<void>(handle, [](void*) {}), path);
}

void* Plugin::symbol(const char* name) const {
  void* found = ::dlsym(handle_.get(), name);
  if (found == nullptr) refuse_plugin(path_);
  return found;
}

}  // namespace ddlrun
