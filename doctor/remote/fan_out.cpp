// SPDX-License-Identifier: MIT
#include "doctor/remote/fan_out.hpp"

#include <algorithm>

namespace ddlrun::doctor {

namespace {

std::size_t width_of(const FanOut& fan_out) { return std::max<std::size_t>(1, fan_out.width); }

std::size_t divide_up(std::size_t all, std::size_t parts) { return (all + parts - 1) / parts; }

// A relay has one host fewer behind it than its branch: a chain of width 1 ends too.
std::size_t most_behind(std::size_t hosts, const FanOut& fan_out) {
  return divide_up(hosts, width_of(fan_out)) - 1;
}

}  // namespace

std::vector<Branch> plan_branches(std::size_t hosts, const FanOut& fan_out) {
  if (hosts <= std::max<std::size_t>(1, fan_out.flat_most)) return {};
  const std::size_t count = std::min(width_of(fan_out), hosts);
  std::vector<Branch> branches;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = hosts / count * i + std::min(i, hosts % count);
    branches.push_back({first, hosts / count + (i < hosts % count ? 1 : 0)});
  }
  return branches;
}

std::size_t count_rounds(std::size_t hosts, const FanOut& fan_out) {
  if (plan_branches(hosts, fan_out).empty()) return divide_up(hosts, width_of(fan_out));
  return 1 + count_rounds(most_behind(hosts, fan_out), fan_out);
}

std::size_t count_relays(std::size_t hosts, const FanOut& fan_out) {
  if (plan_branches(hosts, fan_out).empty()) return 0;
  return 1 + count_relays(most_behind(hosts, fan_out), fan_out);
}

}  // namespace ddlrun::doctor
