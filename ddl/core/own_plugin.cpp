// SPDX-License-Identifier: MIT
#include "ddl/core/own_plugin.hpp"

#include "ddl/core/shell_word.hpp"
#include "ddl/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>

namespace ddl {
namespace {

// From the directory of libddl.so, or of a program with libddl in it: PREFIX/lib, PREFIX/lib/TRIPLET,
// PREFIX/bin, PREFIX/libexec/ddlrun or a directory of the build tree.
constexpr const char* plugin_directories[] = {"", "ddlrun/", "../ddlrun/", "../lib/ddlrun/",
                                              "../../lib/ddlrun/"};

// The file with this code: libddl.so, or a program with libddl in it. /proc/self/exe is not that program
// where the loader was started with it as its argument. "55d0c0a00000-55d0c0a2e000 r-xp 00010000 fd:00 4711
// /usr/bin/x"
std::string own_path() {
  std::ifstream maps("/proc/self/maps");
  const auto here = reinterpret_cast<std::uintptr_t>(&find_own_plugin);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    const auto first = std::from_chars(line.data(), line.data() + line.size(), begin, 16);
    if (first.ptr < line.data() + line.size())
      std::from_chars(first.ptr + 1, line.data() + line.size(), end, 16);
    const std::size_t path = line.find('/');
    if (begin <= here && here < end && path != std::string::npos) return line.substr(path);
  }
  return {};
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

void* plugin_function(void* library, const std::string& path, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw Error(Fault::unsupported, "not a plug-in of libddl: it lacks " + std::string(name), path,
                "reinstall libddl");
  return found;
}

}  // namespace

bool is_trusted(const std::string& path, unsigned owner) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return false;
  const bool anybody_writes = (found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0;
  return !anybody_writes && (found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == owner);
}

std::string find_trusted_file(const std::string& path, unsigned owner) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (resolved == nullptr) return "";
  const std::string real = resolved.get();
  bool is_shared = false;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = real.find('/', end + 1);
    const std::string step = real.substr(0, end);
    struct stat found {};
    if (lstat(step.c_str(), &found) != 0 || S_ISLNK(found.st_mode)) return "";  // exchanged just now
    const bool is_ours = found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == owner;
    if (is_shared && !is_ours) return "";
    if ((found.st_mode & S_IWOTH) == 0) continue;
    if (!S_ISDIR(found.st_mode) || (found.st_mode & S_ISVTX) == 0) return "";
    is_shared = true;
  }
  const std::string directory = directory_of(real);
  const bool is_safe =
      is_trusted(real, owner) && is_trusted(directory + ".", owner) && is_trusted(directory + "..", owner);
  return is_safe ? real : "";
}

std::string find_own_plugin(const OwnPlugin& plugin) {
  const std::string own = own_path();
  if (own.empty()) return "";  // else the names below would be looked up in the current directory
  struct stat found {};
  const uid_t owner = stat(own.c_str(), &found) == 0 ? found.st_uid : geteuid();
  std::string foreign;
  for (const char* below : plugin_directories) {
    std::string path = directory_of(own) + below + plugin.file;
    if (access(path.c_str(), F_OK) != 0) continue;
    std::string file = find_trusted_file(path, owner);
    if (!file.empty()) return file;
    foreign = path;
  }
  if (foreign.empty()) return "";
  throw Error(Fault::unsupported,
              fmt::format("{} is not loaded: another user can write to it or to its directory", plugin.title),
              foreign, fmt::format("namei -l {}", quote_shell(foreign)));
}

void* open_own_plugin(const OwnPlugin& plugin, const std::string& path) {
  if (path.empty())
    throw Error(Fault::unsupported,
                fmt::format("{} libddl's plug-in {}, which is not installed", plugin.need, plugin.file),
                fmt::format("{}ddlrun/ and beside", directory_of(own_path())), plugin.hint);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
    throw Error(Fault::unsupported,
                fmt::format("{} cannot be loaded: {}", plugin.title, why == nullptr ? "" : why), path,
                "ldd " + quote_shell(path));
  }
  const std::string_view theirs =
      reinterpret_cast<const char* (*)()>(plugin_function(library, path, plugin.build_function))();
  if (theirs != plugin.build)
    throw Error(Fault::unsupported,
                fmt::format("{} is of build {}, libddl of build {}", plugin.title, theirs, plugin.build),
                path, "install both from the same build");
  return plugin_function(library, path, plugin.function);
}

}  // namespace ddl
