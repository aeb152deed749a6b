// SPDX-License-Identifier: MIT
// How the ranks of a launch are watched, from the options.
#pragma once

#include "launch/plan/launch_options.hpp"

namespace ddlrun::cli {

struct MonitorOptions {
  bool keep = false;   // a keeper stays with each rank
  bool tells = false;  // and tells how it fares
  int stall_after = 0;
  bool end_on_stall = false;
};

// Error{usage} for what is no number of seconds, no known action, or contradicts itself.
MonitorOptions plan_monitor(const LaunchOptions& options);

}  // namespace ddlrun::cli
