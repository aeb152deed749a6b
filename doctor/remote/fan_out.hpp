// SPDX-License-Identifier: MIT
// The tree over which hosts are asked: a host asks up to `width` others at once, and of many it asks `width`
// relays, each of which asks the hosts of its branch in the same way.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace ddlrun::doctor {

struct FanOut {
  std::size_t width = 32;
  std::size_t flat_most = std::numeric_limits<std::size_t>::max();  // up to so many are asked without relays
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
