// SPDX-License-Identifier: MIT
// Which ranks are workers and which are parameter servers: the last ones are.
#pragma once

#include "runtime/training/train_plan.hpp"

#include <cstddef>
#include <cstdint>

namespace ddlrun::runtime {

struct ServerRoles {
  std::size_t servers = 1;
  bool asynchronous = false;
  std::size_t staleness = SIZE_MAX;  // asynchronous: most steps between the fastest and the slowest worker
};

// What cannot be: as many servers as ranks, a optimizer that needs norms, accumulation. Throws Error(usage).
void check_roles(const ServerRoles& roles, std::size_t ranks);
void check_servers(const TrainPlan& plan, const ServerRoles& roles, std::size_t ranks);

}  // namespace ddlrun::runtime
