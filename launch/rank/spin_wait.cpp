// SPDX-License-Identifier: MIT
#include "launch/rank/spin_wait.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ddlrun::launch {

namespace {

constexpr std::size_t least_samples = 15;
constexpr double most_other_code = 0.02;  // of all samples
constexpr double least_own_code = 0.2;    // of a program that computes: it calls the C library too

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

// cudaStreamSynchronize() and its like spin until the GPU is done, which may be when other ranks have come.
bool waits_for_gpu(std::string_view name) {
  static constexpr std::array<std::string_view, 9> leads{"libcuda",     "libnccl",          "libnvidia-",
                                                         "libamdhip64", "libhsa-runtime64", "librccl",
                                                         "libze_",      "libsycl",          "libOpenCL"};
  return starts_with_any(name, leads);
}

}  // namespace

bool are_enough(const CodeSamples& samples) {
  std::size_t all = 0;
  for (const auto& [name, count] : samples) all += count;
  return all >= least_samples;
}

std::string find_own_code(const CodeSamples& samples) {
  std::size_t all = 0, own = 0, waits = 0, most = 0;
  std::string file;
  for (const auto& [name, count] : samples) {
    all += count;
    if (waits_for_others(name) || waits_for_gpu(name)) {
      waits += count;
    } else if (!serves_a_wait(name)) {
      own += count;
      if (count > most) file = name.empty() ? "generated_code" : name;
      most = std::max(most, count);
    }
  }
  const auto share = [all](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(std::max(all, least_samples));
  };
  const bool is_own = share(own) > least_own_code && share(waits) <= most_other_code;
  return all >= least_samples && is_own ? file : "";
}

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
