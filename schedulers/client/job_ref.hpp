// SPDX-License-Identifier: MIT
// A job as ddlrun remembers it: id, scheduler, directory, last known state.
#pragma once

#include "schedulers/job/scheduler.hpp"

#include <string>

namespace ddlrun::schedulers {

struct JobRef {
  JobId id;
  SchedulerKind scheduler = SchedulerKind::local;
  std::string name;          // "": not submitted by this user's ddlrun
  std::string dir;           // likewise
  std::string task;          // its index, of one task of an array
  std::string output;        // its log; "" of an array as a whole
  std::string error_output;  // the log of its stderr, where that is another
  std::string queue;         // as its scheduler reported it last, else as requested; or ""
  std::string submitted;     // "2026-11-02 10:20:30"
  JobStatus last;            // as the history has it; `explained` is the cause of a bad end
  bool submitted_here() const { return !dir.empty(); }
  JobDirectory files() const { return {dir}; }
};

}  // namespace ddlrun::schedulers
