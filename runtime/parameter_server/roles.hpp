// SPDX-License-Identifier: MIT
// Assigns roles to ranks: the last ones are parameter servers, the others workers.
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

// Throw Error(usage) for unsupported combinations: no worker left, an optimizer that needs norms, gradient
// accumulation.
void check_roles(const ServerRoles& roles, std::size_t ranks);
void check_servers(const TrainPlan& plan, const ServerRoles& roles, std::size_t ranks);

}  // namespace ddlrun::runtime
