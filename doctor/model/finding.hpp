// SPDX-License-Identifier: MIT
// A finding: a check's verdict about some hosts, the observed and the expected value, and the remedy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

enum class Verdict {
  pass,
  warn,
  fail,
  skip,
  error
};  // skip: not requested or not readable; error: the check failed to run

std::string_view verdict_name(Verdict verdict);

struct Remedy {
  // Shell lines to type, complete and quoted, with real names and paths; run on each host of the finding
  // unless `on_driver_host`.
  std::vector<std::string> commands;
  bool needs_root = false;
  bool on_driver_host = false;
  std::string note;  // what no command can do ("log in again"), or what to think about first
  // The fix script asks before each command: a person has to look at what the one before printed.
  bool asks_each = false;

  bool operator==(const Remedy&) const = default;
};

struct Finding {
  std::string id;  // "LIM-01"
  Verdict verdict = Verdict::pass;
  std::vector<std::string> hosts;  // in the order of the job; empty = the job as a whole, or the driver host
  std::string observed;            // "memlock 64 KiB (soft and hard)"; for skip and error: the reason
  std::string expected;            // "unlimited"
  std::string why;                 // what would happen: "ibv_create_cq fails with Cannot allocate memory"
  Remedy remedy;                   // of warn and fail: never empty

  bool operator==(const Finding&) const = default;
};

}  // namespace ddlrun::doctor
