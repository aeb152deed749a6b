// SPDX-License-Identifier: MIT
// What a launcher starts as each rank: the program itself, or `ddlrun exec` in front of it.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <string_view>

namespace ddlrun::launch {

// How each rank is started.
struct RankProgram {
  Command program;                // what the user wants to run
  std::string ddlrun;             // absolute path of the binary whose `exec` wraps it, where that is needed
  std::string placement_token;    // not empty: each rank reports its place first, marked with this
  bool keep = false;              // a supervisor stays with each rank: none of its processes outlives the job
  std::string status_token = {};  // not empty: the supervisor reports the state of the rank, marked with this
  int stall_after = 0;            // seconds without progress before a report; 0: no report
  std::string output_token = {};  // not empty: the supervisor frames the output with this
  bool may_lack_ddlrun = false;   // other hosts, where ddlrun may not be at the same path
  bool checks_ddlrun = false;     // other hosts, where another user's file may be at that path
  Command rank_map = {};          // "--rank-map" or "--rank-map-file FILE": applied to the rank first
  bool needs_rank_map = true;     // false: all that the rank map adds are the variables that number the ranks
  std::string stderr_token = {};  // not empty: the supervisor frames stderr alone, where the host has ddlrun
};

// What a rank executes. mpirun and srun take a word ":" for the start of another program, wherever it
// stands, so such words travel under another name and `ddlrun exec` puts them back.
Command plan_rank_command(const RankProgram& program);
Command restore_colons(Command program, std::string_view stand_in);

// Why `ddlrun exec` stands in the line, for people.
std::string wrapper_reason(const RankProgram& program);

}  // namespace ddlrun::launch
