// SPDX-License-Identifier: MIT
#include "launch/rank/spin_wait.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ddlrun::launch {

namespace {

constexpr std::size_t least_samples = 15;
constexpr double most_other_code = 0.02;  // of all samples

// Open MPI, MPICH and those built on it, Cray's, UCX, libfabric, PSM, verbs and its drivers, HCOLL and SHARP.
bool waits_for_others(std::string_view name) {
  static constexpr std::array<std::string_view, 27> leads{
      "libmpi.",     "libmpi_",  "libmpich", "libpmpi",    "libopen-pal", "libopen-rte", "mca_",
      "libmca_",     "libucp.",  "libuct",   "libucs",     "libucc.",     "libfabric.",  "libpsm",
      "libibverbs.", "libmlx4",  "libmlx5",  "libhfi1",    "libefa",      "libcxi.",     "libhcoll",
      "libocoms",    "libsharp", "libpmix.", "libmpifort", "libmpicxx.",  "libtcp-fi"};
  return starts_with_any(name, leads);
}

// What those libraries call while they wait, and OpenMP's threads that spin until the next parallel region.
bool serves_a_wait(std::string_view name) {
  static constexpr std::array<std::string_view, 12> leads{"libc.so", "libc-2",   "libpthread", "ld-linux",
                                                          "[vdso]",  "libevent", "libgomp.",   "libiomp5.",
                                                          "libomp.", "libomp-",  "librt.",     "libnuma."};
  return starts_with_any(name, leads);
}

}  // namespace

std::optional<std::string> find_spin_library(const CodeSamples& samples) {
  std::size_t all = 0, other = 0, most = 0;
  std::string library;
  for (const auto& [name, count] : samples) {
    all += count;
    if (waits_for_others(name)) {
      if (count > most) library = name;
      most = std::max(most, count);
    } else if (!serves_a_wait(name)) {
      other += count;
    }
  }
  if (static_cast<double>(other) > most_other_code * static_cast<double>(std::max(all, least_samples)))
    return "";
  return all < least_samples ? std::nullopt : std::optional(library);
}

}  // namespace ddlrun::launch
