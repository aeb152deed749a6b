// SPDX-License-Identifier: MIT
// What people read about a rank that does not get on.
#pragma once

#include "base/text/error.hpp"
#include "launch/rank/stall_detector.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ddlrun::launch {

// True for a rank that cannot get on by itself: stopped, traced, or stuck in the kernel; false for one
// asleep, which may simply wait for something.
bool is_stuck(const Stall& stall);

// True for a rank that uses a core to wait: whether something is wrong depends on what the others do.
bool spins(const Stall& stall);

// True for a rank that sleeps for a time, not until a message or a lock comes.
bool sleeps_of_own_will(const Stall& stall);

// With `here` what to type is for this machine, else for a shell that reaches `host` by ssh.
Message describe_stuck(std::uint32_t rank, const std::string& host, const Stall& stall, bool here);

// Ranks that wait, by the example of one of them.
struct IdleRanks {
  std::string who;  // "rank 3 on h2 has", "ranks 0-3 have"
  std::uint32_t rank = 0;
  std::string host;
  Stall stall;
  bool is_alone = true;        // `who` is that rank only
  std::string others;          // what the rest does: "while 3 of 4 ranks go on"; "" for none
  std::string waiters;         // what shows that the rest waits for them; "" where nothing does
  std::string exception = {};  // that `rank` printed last; "" for none
  std::string remedy = {};     // of it; "" where none is known
  bool lacks_py_spy = false;   // on this host
};
Message describe_idle(const IdleRanks& idle, bool here);
// Of ranks that compute while the others wait.
Message describe_computing(const IdleRanks& ranks, bool here);

// What stands still at a moment: the message about it, and the ranks that it names, ascending.
struct Standstill {
  std::string severity;
  Message message;
  std::vector<std::uint32_t> ranks;

  bool operator==(const Standstill&) const = default;
};

// The ranks for which all others wait, as far as the places where they wait show it: those that sleep of
// their own will, those that do not spin, the one that waits elsewhere. Empty where they do not differ in
// that.
std::vector<std::uint32_t> find_awaited(const std::map<std::uint32_t, Stall>& idle);

}  // namespace ddlrun::launch
