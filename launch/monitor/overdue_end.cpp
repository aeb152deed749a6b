// SPDX-License-Identifier: MIT
#include "launch/monitor/overdue_end.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr std::chrono::seconds longest_gap{2};  // between ticks; after a longer one launch itself was stopped

bool is_connection(const std::string& name) { return name == "ssh" || name == "srun"; }

}  // namespace

bool OverdueEndDetector::tick(Time now, JobEnd end, const ChildView& mpirun) {
  const bool childless = end == JobEnd::failing || std::ranges::all_of(mpirun.below, is_connection);
  const bool idle = end != JobEnd::none && mpirun.bytes_written && mpirun.bytes_written == bytes_written_ &&
                    !mpirun.stdout_full && !mpirun.stopped && childless;
  bytes_written_ = mpirun.bytes_written;
  if (!idle) idle_since_.reset();
  const auto gap = now - last_tick_;
  if (idle_since_ && gap > longest_gap) *idle_since_ += gap;
  last_tick_ = now;
  if (!idle) return false;
  if (!idle_since_) idle_since_ = now;
  return now - *idle_since_ >= (end == JobEnd::all_ended ? end_patience : abort_patience);
}

}  // namespace ddlrun::launch
