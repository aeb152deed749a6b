// SPDX-License-Identifier: MIT
#include "ddl/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace ddl {

std::optional<int> launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (value == nullptr) continue;
    int rank = 0;
    const char* end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, rank);
    if (error == std::errc() && stop == end && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace ddl
