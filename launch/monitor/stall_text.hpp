// SPDX-License-Identifier: MIT
// What people read about a rank that does not get on.
#pragma once

#include "base/text/error.hpp"
#include "launch/rank/stall_detector.hpp"

#include <cstdint>
#include <string>

namespace ddlrun::launch {

// True for a rank that cannot get on by itself: stopped, traced, or stuck in the kernel; false for one
// asleep, which may simply wait for something.
bool is_stuck(const Stall& stall);

// True for a rank that uses a core to wait: whether something is wrong depends on what the others do.
bool spins(const Stall& stall);

// With `here` what to type is for this machine, else for a shell that reaches `host` by ssh.
Message describe_stuck(std::uint32_t rank, const std::string& host, const Stall& stall, bool here);
// `others` says what the rest does: "while 3 of 4 ranks go on".
Message describe_idle(std::uint32_t rank, const std::string& host, const Stall& stall,
                      const std::string& others, bool here);

}  // namespace ddlrun::launch
