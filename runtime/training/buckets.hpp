// SPDX-License-Identifier: MIT
// Partitions gradients into buckets, orders them and decides when each may be sent. Pure, so that all ranks
// compute the same order without communication.
//
// The reduced flat vector has the metadata (totals of a step and state of the layers) in front of the
// gradients. A backward pass completes it from the end; the metadata is complete last and is sent with the
// first layer.
//
// Across steps, the bucket of the metadata holds what the next forward pass reads first; the rest of the
// large last layers follows while that pass runs. On a network slower than the net, communication is then
// never idle.
#pragma once

#include "runtime/core/range.hpp"
#include "runtime/models/net.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// How gradients are reduced: all at once after the backward pass, or bucket by bucket during it, and possibly
// beyond the end of the step.
struct ReduceSchedule {
  bool overlap = false;
  std::size_t bucket_bytes = 0;  // minimum size of a bucket; 0: one bucket
  // Share of the gradients, from the end of the vector, that is sent before the metadata; the rest is sent
  // after it, during the next step. 100: everything in the same step.
  std::size_t ahead_percent = 100;
  bool operator==(const ReduceSchedule&) const = default;
};
inline bool spans_steps(const ReduceSchedule& schedule) {
  return schedule.overlap && schedule.ahead_percent < 100;
}

// Length of the metadata in floats, padded so that the gradients begin on a cache line.
std::size_t metadata_count(std::size_t floats);

// Ranges that cover the flat vector, last ones first. Cut at cache lines, each before the gradients of a
// layer.
std::vector<Range> plan_buckets(const Net& net, std::size_t metadata, std::size_t bucket_bytes);
// Buckets in sending order. Across steps: first those before the metadata, last layers first; then that of
// the metadata; then the others in the order in which a forward pass reads them. One layer may be cut.
std::vector<Range> order_buckets(const Net& net, std::size_t metadata, const ReduceSchedule& schedule);
// Index of the bucket with the metadata: a step ends when it is reduced.
std::size_t find_metadata_bucket(std::span<const Range> buckets);
// "gradients of conv2..ip2".
std::string name_bucket(const Net& net, std::size_t metadata, const Range& bucket);
// Whether all gradients of a bucket are final once those of parameters [from, end) are.
bool is_final(const Range& bucket, std::size_t metadata, std::size_t from);

// Schedules worth trying: without overlap, and with several bucket sizes, as far as they differ for this net.
// `overlap` and `bucket_bytes` restrict the choice.
std::vector<ReduceSchedule> plan_schedules(const Net& net, std::size_t metadata,
                                           const std::vector<bool>& overlap,
                                           const std::vector<std::size_t>& bucket_bytes);
// The same across steps, with several values of ahead_percent. `bucket_bytes` 0: an eighth of all gradients,
// because each message has a latency.
std::vector<ReduceSchedule> plan_schedules_across(const Net& net, std::size_t metadata,
                                                  std::size_t bucket_bytes);

// "after each step", "5 buckets from 256 kB, while computing", "4 buckets from 256 kB, 2 of them beside the
// next step".
std::string render_reduce_schedule(const ReduceSchedule& schedule, std::span<const Range> buckets);

}  // namespace ddlrun::runtime
