// SPDX-License-Identifier: MIT
// Which gradients travel together, in which order, and when they may start. Pure, so that all ranks come to
// the same order without a word.
//
// The flat vector that is summed: a metadata (the totals of a step and the layers' state), then the
// gradients. A backward pass finishes it from its end; the metadata is known last, so it rides with the first
// layer.
//
// Across the border of a step: what the next forward pass reads first goes with the metadata or right behind
// it, and the rest of the large last layers follows, while that pass is under schedule. A wire that is slower
// than the net then never waits for the net to compute, but for the layer that travelled last.
#pragma once

#include "runtime/core/range.hpp"
#include "runtime/models/net.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// How sums are made: all at once behind the backward pass, or bucket by bucket while it goes on, and perhaps
// beyond the step's end.
struct ReduceSchedule {
  bool overlap = false;
  std::size_t bucket_bytes = 0;  // a bucket is closed once it holds so much; 0: all in one
  // So much of the gradients travels before the metadata, from the end of the vector on; what is left travels
  // behind it, into the next step. 100: all, as the step needs them.
  std::size_t ahead_percent = 100;
  bool operator==(const ReduceSchedule&) const = default;
};
inline bool spans_steps(const ReduceSchedule& schedule) {
  return schedule.overlap && schedule.ahead_percent < 100;
}

// The metadata's length: so that the gradients behind it begin on a cache line.
std::size_t metadata_count(std::size_t floats);

// Ranges of the flat vector, the last ones first; together they are all of it. Cut at cache lines, each
// before the gradients of some layer.
std::vector<Range> plan_buckets(const Net& net, std::size_t metadata, std::size_t bucket_bytes);
// In the order in which they travel. Across steps: first those ahead of the metadata, the last layers first;
// then that of the metadata; then the others in the order in which a forward pass reads them. One layer may
// be cut.
std::vector<Range> order_buckets(const Net& net, std::size_t metadata, const ReduceSchedule& schedule);
// Which of them has the metadata: a step ends when it has come.
std::size_t find_metadata_bucket(std::span<const Range> buckets);
// "gradients of conv2..ip2".
std::string name_bucket(const Net& net, std::size_t metadata, const Range& bucket);
// Whether all of a bucket's gradients are final once those of parameters [from, end) are.
bool is_final(const Range& bucket, std::size_t metadata, std::size_t from);

// Ways worth trying: without overlap, and with buckets of some sizes, as far as they differ for this net.
// `overlap` and `bucket_bytes` leave only those that fit them.
std::vector<ReduceSchedule> plan_schedules(const Net& net, std::size_t metadata,
                                           const std::vector<bool>& overlap,
                                           const std::vector<std::size_t>& bucket_bytes);
// The same across the borders of steps, with other shard ahead of the metadata. `bucket_bytes` 0: an eighth
// of all, for each message costs the wire a moment.
std::vector<ReduceSchedule> plan_schedules_across(const Net& net, std::size_t metadata,
                                                  std::size_t bucket_bytes);

// "after each step", "5 buckets from 256 kB, while computing", "4 buckets from 256 kB, 2 of them beside the
// next step".
std::string render_reduce_schedule(const ReduceSchedule& schedule, std::span<const Range> buckets);

}  // namespace ddlrun::runtime
