// SPDX-License-Identifier: MIT
// After a run has ended badly: again, and on which hosts? Pure.
#pragma once

#include "topology/dims.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// What to do about a lost host. shrink: restart without it; wait: until it answers; automatic: shrink unless
// DIMS are given.
enum class HostFailure { automatic, shrink, wait };

struct RestartPolicy {
  unsigned most = 0;  // restarts; 0: never
  HostFailure on_host_failure = HostFailure::automatic;
  bool dims_were_given = false;
};

// How one attempt ended.
struct AttemptEnd {
  int status = 0;       // of launch, as a shell would report it
  int stop_signal = 0;  // the signal by which somebody ended it, or 0
  std::vector<std::string> hosts;
  std::optional<topology::Dims> dims;  // nothing: the job has none
  std::vector<std::string> lost_hosts;
  unsigned restarts = 0;  // that were made before it
};

struct RestartDecision {
  bool again = false;
  std::string why;                     // for people, in either case
  std::string hint;                    // what to type where it is not again because of an error, else ""
  std::vector<std::string> hosts;      // of the next attempt
  std::optional<topology::Dims> dims;  // of the next attempt
  std::vector<std::string> wait_for;   // hosts that have to answer before
};

// Not again: a good end, a signal of the user's or the scheduler's, whether launch got it or the ranks did
// (they saved and ended with 75), a program that could not even start or did not like its arguments (2, 126,
// 127), no restarts left, no host left.
RestartDecision plan_restart(const RestartPolicy& policy, const AttemptEnd& end);

// Error{usage} for another word than auto, shrink and wait.
HostFailure parse_host_failure(std::string_view text);

// The dims for so many hosts: racks stay where they come out even, else one rack.
topology::Dims fit_dims(const topology::Dims& dims, std::uint32_t hosts);

}  // namespace ddlrun::launch
