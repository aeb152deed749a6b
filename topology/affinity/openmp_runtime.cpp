// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_settings.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::affinity {

namespace {

// "libomp.so.5", "libomp-14.so.5", "libgomp-a34b3233.so.1" (as wheels bundle it), not "libompi_dbg.so".
bool is_library(std::string_view name, std::string_view stem) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  return name.starts_with(".so") || (name.starts_with("-") && name.find(".so") != std::string_view::npos);
}

bool has_any(const std::vector<std::string>& libraries, std::initializer_list<std::string_view> stems) {
  return std::any_of(libraries.begin(), libraries.end(), [&](const std::string& name) {
    return std::any_of(stems.begin(), stems.end(),
                       [&](std::string_view stem) { return is_library(name, stem); });
  });
}

}  // namespace

std::string_view name_of(OpenMpRuntime runtime) {
  constexpr std::array<std::string_view, 4> names{"none", "unknown", "libgomp", "libomp"};
  return names[static_cast<std::size_t>(runtime)];
}

OpenMpRuntime runtime_of(const std::vector<std::string>& libraries) {
  const bool gnu = has_any(libraries, {"libgomp"});
  const bool llvm = has_any(libraries, {"libomp", "libomp5", "libiomp5"});
  // mkl_rt loads its threading library when it is first called, and which one is a variable's choice.
  const bool late = has_any(libraries, {"libmkl_rt"});
  if (gnu && llvm) return OpenMpRuntime::unknown;
  if (llvm) return OpenMpRuntime::libomp;
  if (late) return OpenMpRuntime::unknown;
  return gnu ? OpenMpRuntime::libgomp : OpenMpRuntime::none;
}

}  // namespace ddlrun::affinity
