// SPDX-License-Identifier: MIT
#include "ddl/launcher.hpp"

#include "ddl/core/environment.hpp"

#include <charconv>
#include <cstring>

namespace ddl {
namespace {

std::optional<int> number_in(const char* name) {
  const char* value = environment_variable(name);
  if (value == nullptr) return std::nullopt;
  int number = 0;
  const char* end = value + std::strlen(value);
  const auto [stop, error] = std::from_chars(value, end, number);
  return error == std::errc() && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<int> launched_rank() {
  for (const char* name : {"DDL_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (std::strcmp(name, "DDL_RANK") == 0 && environment_variable("DDL_MASTER") == nullptr) continue;
    if (const auto rank = number_in(name)) return rank;
  }
  return std::nullopt;
}

std::optional<int> launched_size() {
  if (const auto size = number_in("OMPI_COMM_WORLD_SIZE")) return size;
  return environment_variable("PMI_RANK") == nullptr ? std::nullopt : number_in("PMI_SIZE");
}

}  // namespace ddl
