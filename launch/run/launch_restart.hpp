// SPDX-License-Identifier: MIT
// Starts that follow a bad end: --max-restarts, with or without the hosts that were lost.
#pragma once

#include "base/os/system.hpp"
#include "launch/plan/launch_options.hpp"
#include "launch/rank/exports.hpp"
#include "launch/run/launch_run.hpp"
#include "topology/dims.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::cli {

// One start, and what the next one has to know of it.
struct AttemptResult {
  LaunchEnd end;
  std::vector<std::string> hosts;
  std::optional<topology::Dims> dims;  // nothing with a rankfile of the user's
  std::string folder;                  // "": nothing was started
  bool is_trainer = false;

  AttemptResult with_status(int status) {
    end.status = status;
    return std::move(*this);
  }
};

using Attempt = std::function<AttemptResult(System& system, const LaunchOptions& options)>;

// DDLRUN_RESTART, from the second start on.
void add_restart_number(const LaunchOptions& options, launch::Exports& exports);

// The first start and, as far as launch::plan_restart() says so, those after it. Returns the last one's
// status.
int run_with_restarts(System& system, LaunchOptions options, const Attempt& attempt);

}  // namespace ddlrun::cli
