// SPDX-License-Identifier: MIT
#include "launch/rank/rank_usage.hpp"

#include <algorithm>
#include <cmath>

namespace ddlrun::launch {

using std::chrono::milliseconds;

namespace {

using Seconds = std::chrono::duration<double>;

// As the stall detector: a rank that computes uses 100 % of a core, one that polls for others less than 2 %.
constexpr double least_share = 0.02, least_share_with_gpu = 0.005;
constexpr double least_bytes_s =
    65536;  // a store that is polled moves less, and so does a shell in a loop around sleep

// The counters of a process that no parent waited for are lost at its end, so a sum can fall.
double rate(std::uint64_t from, std::uint64_t to, Seconds elapsed) {
  return to > from && elapsed.count() > 0 ? static_cast<double>(to - from) / elapsed.count() : 0;
}

std::uint64_t kib(double bytes) { return static_cast<std::uint64_t>(std::llround(bytes / 1024)); }

}  // namespace

milliseconds usage_interval(std::uint32_t ranks) {
  constexpr std::uint32_t lines_a_second = 4096, many = 65'536;
  return std::max(milliseconds(2000), milliseconds(1000LL * (ranks == 0 ? many : ranks) / lines_a_second));
}

milliseconds first_usage(std::uint32_t rank, milliseconds interval) {
  constexpr int parts = 16;
  return interval * (rank % parts + 1) / parts;
}

RankUsage UsageMeter::take(Time now, const TreeUsage& usage, bool has_gpu) {
  const Seconds elapsed = now - last_look_;
  const double share = rate(last_.cpu_ms, usage.cpu_ms, elapsed) / 1000;
  const double bytes_s = rate(last_.io_bytes, usage.io_bytes, elapsed);
  if (share >= (has_gpu ? least_share_with_gpu : least_share) || bytes_s >= least_bytes_s) last_busy_ = now;
  last_look_ = now;
  last_ = usage;
  RankUsage used;
  used.cpu_percent = static_cast<int>(std::lround(100 * share));
  used.resident_kib = usage.resident_bytes / 1024;
  used.io_kib_s = kib(bytes_s);
  used.quiet_s = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(now - last_busy_).count());
  used.stopped = usage.stopped;
  return used;
}

void UsageMeter::add_traffic(Time now, const HostTraffic& traffic, RankUsage& usage) {
  if (traffic_) {
    const Seconds elapsed = now - traffic_->first;
    usage.host = TrafficRate{kib(rate(traffic_->second.received, traffic.received, elapsed)),
                             kib(rate(traffic_->second.sent, traffic.sent, elapsed))};
  }
  traffic_ = {now, traffic};
}

}  // namespace ddlrun::launch
