// SPDX-License-Identifier: MIT
// What a rank uses between two looks, as its supervisor reports it. Pure.
#pragma once

#include "base/process/tree_usage.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace ddlrun::launch {

// Of the host, from the first rank of each.
struct TrafficRate {
  std::uint64_t received_kib_s = 0, sent_kib_s = 0;

  bool operator==(const TrafficRate&) const = default;
};

struct RankUsage {
  int cpu_percent = 0;  // of one core
  std::uint64_t resident_kib = 0;
  std::uint64_t io_kib_s = 0;
  int quiet_s = 0;  // for so long it has hardly used a core and moved no bytes
  bool stopped = false;
  std::optional<TrafficRate> host;

  bool operator==(const RankUsage&) const = default;
};

// How often a rank reports what it uses: each 2 s, and with more than 8,192 ranks so that launch reads at
// most 4,096 lines a second. 0 ranks: unknown, as of 65,536.
std::chrono::milliseconds usage_interval(std::uint32_t ranks);

// The first report of a rank: they are spread over the interval.
std::chrono::milliseconds first_usage(std::uint32_t rank, std::chrono::milliseconds interval);

class UsageMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit UsageMeter(Time start) : last_look_(start), last_busy_(start) {}
  // `has_gpu`: it may work while its CPU sleeps.
  RankUsage take(Time now, const TreeUsage& usage, bool has_gpu);
  // For the first rank of a host, whose traffic since the last time is added.
  void add_traffic(Time now, const HostTraffic& traffic, RankUsage& usage);

 private:
  Time last_look_, last_busy_;
  TreeUsage last_;
  std::optional<std::pair<Time, HostTraffic>> traffic_;
};

}  // namespace ddlrun::launch
