// SPDX-License-Identifier: MIT
#include "ddl/gpu/gpu_plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace ddl {
namespace {

constexpr const char* plugin_name = "libddl_cuda.so";
// From the directory of libddl.so, or of a program with libddl in it: PREFIX/lib, PREFIX/lib/TRIPLET,
// PREFIX/bin.
constexpr const char* plugin_directories[] = {"", "ddlrun/", "../ddlrun/", "../lib/ddlrun/"};

// A plug-in is code of this process: only root, this user, or the owner of the code that loads it may have
// written it.
bool is_trusted(const std::string& path, uid_t owner) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return false;
  const bool anybody_writes = (found.st_mode & S_IWOTH) != 0 && (found.st_mode & S_ISVTX) == 0;
  return !anybody_writes && (found.st_uid == 0 || found.st_uid == geteuid() || found.st_uid == owner);
}

// The program itself has no name in the loader's list.
std::string own_path() {
  Dl_info info{};
  link_map* map = nullptr;
  std::string path;
  if (dladdr1(reinterpret_cast<const void*>(&load_gpu_plugin), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) != 0 &&
      map != nullptr)
    path = map->l_name;
  if (path.empty()) {
    char program[4096];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    path.assign(program, length > 0 ? static_cast<std::size_t>(length) : 0);
  }
  return path;
}

std::string find_gpu_library() {
  const std::string own = own_path();
  struct stat found {};
  const uid_t owner = stat(own.c_str(), &found) == 0 ? found.st_uid : geteuid();
  const std::string directory = own.substr(0, own.rfind('/') + 1);
  std::string foreign;
  for (const char* below : plugin_directories) {
    const std::string place = directory + below;
    const std::string path = place + plugin_name;
    if (access(path.c_str(), F_OK) != 0) continue;
    // The directories above are those of the program or libddl itself.
    if (is_trusted(path, owner) && is_trusted(place + ".", owner) && is_trusted(place + "..", owner))
      return path;
    foreign = path;
  }
  if (!foreign.empty())
    throw Error(Fault::unsupported,
                "the plug-in for GPUs is not loaded: another user can write to it or to its directory",
                foreign, fmt::format("ls -ld '{}' '{}'", foreign, foreign.substr(0, foreign.rfind('/'))));
  throw Error(
      Fault::unsupported,
      fmt::format("sums on GPUs need libddl's plug-in {}, which is not installed", plugin_name),
      fmt::format("{}ddlrun/ and beside", directory),
      "install a libddl that was built where the CUDA Toolkit is; or -mode b, with tensors in host memory");
}

template <typename Function>
Function* gpu_function(void* library, const std::string& path, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw Error(Fault::unsupported, "not a plug-in of libddl: it lacks " + std::string(name), path,
                "reinstall libddl");
  return reinterpret_cast<Function*>(found);
}

// Never closed: drivers leave threads and exit handlers behind.
const GpuPlugin* open_gpu_library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps one for each thread
    throw Error(Fault::unsupported,
                fmt::format("the plug-in for GPUs cannot be loaded: {}", why == nullptr ? "" : why), path,
                "ldd " + path);
  }
  const std::string_view theirs = gpu_function<const char*()>(library, path, "ddl_gpu_build")();
  if (theirs != DDL_GPU_BUILD)
    throw Error(Fault::unsupported,
                fmt::format("the plug-in for GPUs is of build {}, libddl of build {}", theirs, DDL_GPU_BUILD),
                path, "install both from the same build");
  return gpu_function<const GpuPlugin*()>(library, path, "ddl_gpu_plugin")();
}

}  // namespace

const GpuPlugin& load_gpu_plugin() {
  static const GpuPlugin* const plugin = open_gpu_library(find_gpu_library());
  return *plugin;
}

}  // namespace ddl
