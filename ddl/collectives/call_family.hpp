// SPDX-License-Identifier: MIT
// What the first Context and the groups that were split from it share. A rank is in one call at a time,
// whatever its group: so there is one call in progress, and one LivenessInspector, which follows ranks that
// wait for each other in different groups. The inspector's ranks are those of the first Context.
#pragma once

#include "ddl/collectives/active_call.hpp"
#include "ddl/core/grid.hpp"
#include "ddl/core/liveness_inspector.hpp"
#include "ddl/transport/transport.hpp"

#include <memory>
#include <vector>

namespace ddl {

class Collectives;

struct CallFamily {
  Grid grid;  // of the first Context
  ActiveCallTracker active_call;
  std::unique_ptr<LivenessInspector> inspector;  // null while one host has no groups
  std::vector<Collectives*> members;

  // Makes the inspector, unless there is one or `transport` has no channel for it, and gives it to all
  // members. Collective over the ranks of the first Context, whose transport it is.
  void open_inspector(Transport& transport);
};

}  // namespace ddl
