// SPDX-License-Identifier: MIT
// Which gradients travel together, and when they may start. Pure.
//
// The flat vector that is summed: a head (the totals of a step and the layers' state), then the gradients. A
// backward pass finishes it from its end; the head is known last, so it rides with the first layer.
#pragma once

#include "runtime/data/sharding.hpp"
#include "runtime/nets/net.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// How sums are made: all at once behind the backward pass, or bucket by bucket while it goes on.
struct SumWay {
  bool overlap = false;
  std::size_t bucket_bytes = 0;  // a bucket is closed once it holds so much; 0: all in one
  bool operator==(const SumWay&) const = default;
};

// The head's length: so that the gradients behind it begin on a cache line.
std::size_t head_count(std::size_t floats);

// Ranges of the flat vector, the last ones first; together they are all of it. Cut at cache lines, each
// before the gradients of some layer.
std::vector<Range> plan_buckets(const Net& net, std::size_t head, std::size_t bucket_bytes);
// "gradients of conv2..ip2".
std::string name_bucket(const Net& net, std::size_t head, const Range& bucket);
// Whether all of a bucket's gradients are final once those of parameters [from, end) are.
bool is_final(const Range& bucket, std::size_t head, std::size_t from);

// Ways worth trying: without overlap, and with buckets of some sizes, as far as they differ for this net.
// `overlap` and `bucket_bytes` leave only those that fit them.
std::vector<SumWay> plan_ways(const Net& net, std::size_t head, const std::vector<bool>& overlap,
                              const std::vector<std::size_t>& bucket_bytes);

// "after each step", "5 buckets of 256 kB, while computing".
std::string render_way(const SumWay& way, std::size_t buckets);

}  // namespace ddlrun::runtime
