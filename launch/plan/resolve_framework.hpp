// SPDX-License-Identifier: MIT
// The framework of a launch: named by --framework, else detected from the program.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_spec.hpp"

namespace ddlrun::launch {

struct ResolvedFramework {
  FrameworkSpec spec;
  bool is_packed = false;      // the framework numbers ranks host by host
  bool pins_threads = false;   // the framework sets the thread affinity itself
  bool forks_loaders = false;  // its data loaders inherit the cores of the main thread, so that is not pinned
};

// Error{usage} for flags of another framework and for flags that contradict `shape`. Reads the program's
// script and --horovod-config.
ResolvedFramework resolve_framework(System& system, const LaunchFlags& flags, const JobShape& shape);

}  // namespace ddlrun::launch
