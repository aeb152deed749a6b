// SPDX-License-Identifier: MIT
// A monitored run of four ranks on two hosts: signs of the ranks go in, printed events come out.
#pragma once

#include "launch/monitor/rank_monitor.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ddlrun::tests {

// Four ranks on two hosts, packed: h1 has 0 and 1, h2 has 2 and 3.
struct MonitoredRun {
  launch::RankMonitor::Time start{};
  launch::RankMonitor watch;
  std::vector<std::string> reported;
  int now = 0;

  explicit MonitoredRun(int stall_after = 0) : watch(planned(), "T", start, {}, false, stall_after) {}

  static std::vector<launch::PlannedRank> planned() {
    std::vector<launch::PlannedRank> ranks(4);
    for (std::uint32_t i = 0; i < 4; ++i) {
      ranks[i].rank = i;
      ranks[i].local_rank = i % 2;
      ranks[i].host = i < 2 ? "h1" : "h2";
    }
    return ranks;
  }
  void say(std::uint32_t rank, launch::RankStatus sign, launch::Stall stall = {}, int status = 0,
           int signal = 0) {
    const launch::RankReport report{rank, rank < 2 ? "h1" : "h2", sign, stall, status, signal};
    CHECK(
        watch.take_line(launch::render_status_line("T", report), start + std::chrono::seconds(now)).empty());
  }
  // `hosts` give signs of life every 5 s.
  void pass(int time, const std::string& hosts) {
    for (const int end = now + time; now < end; ++now) {
      if (now % 5 == 0 && hosts.find('1') != std::string::npos) say(0, launch::RankStatus::heartbeat);
      if (now % 5 == 0 && hosts.find('2') != std::string::npos) say(2, launch::RankStatus::heartbeat);
      for (const launch::MonitorEvent& news : watch.tick(start + std::chrono::seconds(now))) {
        reported.push_back(std::to_string(now) + " " + news.severity + " " + news.message.what);
      }
    }
  }
  bool received(const std::string& text) const {
    for (const std::string& line : reported) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
};

inline const launch::Stall stopped_stall{50, 'T', 812, "train", ""};
inline const launch::Stall asleep_stall{50, 'S', 813, "train", "futex_wait"};

}  // namespace ddlrun::tests
