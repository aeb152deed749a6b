// SPDX-License-Identifier: MIT
// The framework of a launch: named by --framework, else detected from the program.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_spec.hpp"

namespace ddlrun::launch {

struct ResolvedFramework {
  FrameworkSpec spec;
  bool is_packed = false;            // the framework numbers ranks host by host
  bool leaves_threads_free = false;  // --affinity auto is off
};

// Error{usage} for flags of another framework and for flags that contradict `shape`. Reads the program's
// script and --horovod-config.
ResolvedFramework resolve_framework(System& system, const LaunchFlags& flags, const JobShape& shape);

// Whether --affinity auto is off for this program, whatever else is wrong with the flags: Intel Caffe pins
// its threads itself, and data loaders of PyTorch inherit the cores of the main thread.
bool leaves_threads_free(System& system, const LaunchFlags& flags);

}  // namespace ddlrun::launch
