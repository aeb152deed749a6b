// SPDX-License-Identifier: MIT
// The tree over which hosts are asked: a host asks up to `width` others at once, and of many it asks `width`
// relays, each of which asks the hosts of its branch in the same way.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct FanOut {
  std::size_t width = 32;
  std::size_t flat_most = std::numeric_limits<std::size_t>::max();  // up to so many are asked without relays
};

// How the hosts of one level are asked: a relay does as the driver host does.
struct LevelOptions {
  std::vector<std::string> ssh_arguments;   // the user's own, before the host
  unsigned window = 32;                     // connections at once
  unsigned per_target = 8;                  // of them to one address or jump host
  std::chrono::milliseconds limit{20'000};  // for one host, all in all
  int connect_seconds = 5;
  std::size_t flat_most = FanOut{}.flat_most;  // more hosts than that are asked through relays
};

// Hosts [first, first + count): the first is the relay of the others.
struct Branch {
  std::size_t first = 0, count = 0;
  bool operator==(const Branch&) const = default;
};

// Branches of equal size, or one more, in the order of the hosts; none where no relay is needed.
std::vector<Branch> plan_branches(std::size_t hosts, const FanOut& fan_out);

// How many waits for a host follow one another until all `hosts` are asked.
std::size_t count_rounds(std::size_t hosts, const FanOut& fan_out);
// How many relays an answer passes at most.
std::size_t count_relays(std::size_t hosts, const FanOut& fan_out);

}  // namespace ddlrun::doctor
