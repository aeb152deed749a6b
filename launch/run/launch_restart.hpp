// SPDX-License-Identifier: MIT
// Starts after a failed job: --max-restarts, with or without the lost hosts.
//
//   attempt -> plan_restart -> (wait for lost hosts) -> next_start -> attempt ...
#pragma once

#include "base/os/system.hpp"
#include "launch/monitor/restart.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/run/run_launch.hpp"
#include "topology/dims.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::launch {

// One start, and what the next start needs of it.
struct AttemptResult {
  LaunchEnd end;
  std::vector<std::string> hosts;
  std::optional<topology::Dims> dims;  // nothing with the user's rankfile
  std::string run_dir;                 // "": nothing was started
  bool is_trainer = false;
  topology::HostPath path = topology::HostPath::automatic;  // by which its hosts were read

  AttemptResult with_status(int status) {
    end.status = status;
    return std::move(*this);
  }
};

using Attempt = std::function<AttemptResult(System& system, const LaunchSpec& spec)>;

// The next start: the same launch on the remaining hosts, with --restart-arg and, for the trainer, --resume.
LaunchSpec next_start(LaunchSpec spec, const AttemptResult& last, const RestartDecision& decision);

// Runs the first attempt and those that plan_restart() allows. The exit status of the last one.
int run_with_restarts(System& system, LaunchSpec spec, const Attempt& attempt);

}  // namespace ddlrun::launch
