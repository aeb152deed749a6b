// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/gpu_plugin.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {

// The sizes of what crosses the border: two builds that differ there must not meet.
std::string gpu_plugin_build() {
  return fmt::format("{} ({}), {}/{}/{}/{}", DDLRUN_VERSION, __VERSION__, sizeof(Layer), sizeof(PlannedLayer),
                     sizeof(Net), sizeof(GpuOptions));
}

}  // namespace ddlrun::runtime
