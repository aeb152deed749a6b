// SPDX-License-Identifier: MIT
#include "topology/sources/cuda_probe.hpp"

#include "base/text/error.hpp"
#include "topology/sources/topology_child.hpp"

namespace ddlrun::topology {
namespace {

// ".../bin/ddlrun" -> ".../lib/ddlrun/ddlrun_cuda.so", in a build directory and after an installation.
std::string plugin_path(const std::string& executable) {
  const std::size_t name = executable.rfind('/');
  const std::size_t dir =
      name == 0 || name == std::string::npos ? std::string::npos : executable.rfind('/', name - 1);
  return (dir == std::string::npos ? "" : executable.substr(0, dir)) + "/lib/ddlrun/ddlrun_cuda.so";
}

}  // namespace

CudaReport read_cuda_report(System& system) {
  const std::string path = plugin_path(system.environment.executable);
  if (!system.files.exists(path)) {
    throw Error(ErrorKind::request,
                {"this ddlrun has no CUDA plug-in", path, "cmake --workflow --preset gpu"});
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(30);  // no memory limit: CUDA reserves address space for all GPUs
  return parse_cuda_json(read_in_child(system, {"--cuda=" + path}, path, limits), path);
}

}  // namespace ddlrun::topology
