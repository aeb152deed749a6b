// SPDX-License-Identifier: MIT
#include "base/os/plugin.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/engine/cuda/gpu_plugin.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr const char* plugin_file = "lib/ddlrun/ddl_train_cuda.so";

// PREFIX/bin/ddl-train has PREFIX/lib/ddlrun; a build tree is laid out alike; a bundle has
// PREFIX/libexec/ddlrun/ddl-train.
std::string find_gpu_plugin() {
  std::string path = own_program_file();
  for (int up = 0; up < 2; ++up) path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  if (path.ends_with("/libexec")) path.resize(path.rfind('/'));
  return path + "/" + plugin_file;
}

const GpuPlugin* open_gpu_plugin(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    throw Error(ErrorKind::request,
                {"this ddl-train was built without its CUDA plug-in", printable(path),
                 "./run.sh on a machine with the CUDA Toolkit and cuDNN; or --device cpu"});
  }
  // Kept for good: engines made by it may outlive any scope of ours.
  static std::optional<Plugin> library;
  library.emplace(Plugin::open_own(path));
  const std::string theirs = library->function<const char*()>("ddl_train_gpu_build")();
  if (theirs != gpu_plugin_build()) {
    throw Error(ErrorKind::request, {fmt::format("the CUDA plug-in is of build {}, ddl-train of build {}",
                                                 printable(theirs), gpu_plugin_build()),
                                     printable(path), "install both from the same build"});
  }
  return library->function<const GpuPlugin*()>("ddl_train_gpu_plugin")();
}

}  // namespace

const GpuPlugin& load_gpu_plugin() {
  static const GpuPlugin* plugin = open_gpu_plugin(find_gpu_plugin());
  return *plugin;
}

void require_gpu(const GpuPlugin& plugin, int device) {
  const int count = plugin.device_count();
  if (device < count) return;
  throw Error(
      ErrorKind::request,
      {count == 0
           ? "this rank sees no GPU"
           : fmt::format("this rank needs GPU {}, but sees only {} GPU(s), numbered from 0", device, count),
       "CUDA_VISIBLE_DEVICES=" +
           [] {
             const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");  // NOLINT(concurrency-mt-unsafe)
             return visible == nullptr ? std::string("(not set)") : printable(visible);
           }(),
       count == 0 ? "nvidia-smi -L; or --device cpu"
                  : fmt::format("nvidia-smi -L; or {} rank(s) per host", count)});
}

}  // namespace ddlrun::runtime
