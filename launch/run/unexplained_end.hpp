// SPDX-License-Identifier: MIT
// How a job ended whose output shows no cause: what launch knows of the ranks' ends, in the form of a
// diagnosis. Pure.
#pragma once

#include "launch/rank/status_line.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct UnexplainedEnd {
  int status = 0;                        // of the job
  std::optional<RankReport> first;       // the rank that failed first
  std::vector<std::uint32_t> left;       // ended with status 0 before, and the others' errors notice that
  std::string left_host;                 // of the first of them
  bool is_alone = false;                 // `first` ended by itself: all errors are those of others
  std::vector<std::string> last_lines;   // of `first` on stderr
  std::string rank_file;                 // that has them all; or ""
  std::vector<std::string> error_lines;  // of all ranks, the most likely
  std::vector<std::string> hosts;        // of the job
};

// "cause: unknown: rank 1 on h2 exited with status 3 ...", the lines to read, and what to try.
std::string render_unexplained_end(const UnexplainedEnd& end);

}  // namespace ddlrun::launch
