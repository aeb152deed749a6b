// SPDX-License-Identifier: MIT
#include "ddl/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace ddl {

std::optional<int> launched_rank() {
  const auto variable = [](const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  };
  for (const char* name : {"DDL_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* value = variable(name);
    if (value == nullptr) continue;
    if (std::strcmp(name, "DDL_RANK") == 0 && variable("DDL_MASTER") == nullptr) continue;
    int rank = 0;
    const char* end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, rank);
    if (error == std::errc() && stop == end && rank >= 0) return rank;
  }
  return std::nullopt;
}

}  // namespace ddl
