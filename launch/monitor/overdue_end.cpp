// SPDX-License-Identifier: MIT
#include "launch/monitor/overdue_end.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::chrono::seconds longest_gap{2};  // between ticks; after a longer one launch itself was stopped

bool is_connection(const std::string& name) { return name == "ssh" || name == "srun"; }

}  // namespace

bool OverdueEndDetector::tick(Time now, bool ended, const ChildView& mpirun) {
  const bool idle = ended && mpirun.bytes_written && mpirun.bytes_written == bytes_written_ &&
                    !mpirun.stdout_full && std::ranges::all_of(mpirun.below, is_connection);
  bytes_written_ = mpirun.bytes_written;
  if (!idle || now - last_tick_ > longest_gap) idle_since_.reset();
  last_tick_ = now;
  if (!idle) return false;
  if (!idle_since_) idle_since_ = now;
  return now - *idle_since_ >= end_patience;
}

}  // namespace ddlrun::launch
