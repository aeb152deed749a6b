// SPDX-License-Identifier: MIT
// Which gradients travel together, and which schedule to make sums is kept.
#include "runtime/training/buckets.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace ddlrun::runtime {
namespace {

// Parameters: 2*9+2 = 20, relu none, 5*32+5 = 165 (image 4x4), 3*5+3 = 18: at 0, 20, 185; together 203.
Net make_bucket_net() {
  Layer conv = convolution(2, 3, 1);
  const Layer layers[] = {conv, relu(), linear(5), linear(3)};
  return plan_net("toy", {1, 4, 4}, layers);
}

std::vector<std::size_t> begins_of(const std::vector<Range>& buckets) {
  std::vector<std::size_t> begins;
  for (const Range& bucket : buckets) begins.push_back(bucket.begin);
  return begins;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/training/buckets");

// namespace

TEST_CASE("buckets: from the last layer to the first, cut at cache lines, the head with the first layer") {
  const Net net = make_bucket_net();
  REQUIRE(net.parameter_count == 203);
  struct Row {
    std::size_t bytes;
    std::vector<std::size_t> begins;
  };
  const Row rows[] = {
      {0, {0}},                                // all in one
      {1, {208, 48, 0}},                       // 16 + 185 = 201 and 16 + 20 = 36, rounded up to lines of 16
      {44, {208, 48, 0}},                      // 219 - 208 floats
      {45, {48, 0}},      {4 * 171, {48, 0}},  // 219 - 48 floats
      {4 * 171 + 1, {0}}, {std::size_t{1} << 30U, {0}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    const std::vector<Range> buckets = plan_buckets(net, 16, row.bytes);
    CHECK(begins_of(buckets) == row.begins);
    std::size_t end = 16 + 203;
    for (const Range& bucket : buckets) {
      CHECK(bucket.end == end);
      end = bucket.begin;
    }
  }
}

TEST_CASE(
    "buckets: one may start when all of its gradients are final, that with the metadata never before the "
    "end") {
  const Range last{208, 219};
  CHECK(!is_final(last, 16, 193));
  CHECK(is_final(last, 16, 192));
  CHECK(is_final(last, 16, 185));
  CHECK(!is_final({0, 48}, 16, 0));
}

TEST_CASE("buckets: a stall report names the layers that a bucket holds") {
  const Net net = make_bucket_net();
  const auto name = [&](std::size_t layer) { return net.layers[layer].name; };
  CHECK(name_bucket(net, 16, {208, 219}) == "gradients of " + name(3));
  CHECK(name_bucket(net, 16, {48, 208}) == "gradients of " + name(2) + ".." + name(3));
  CHECK(name_bucket(net, 16, {0, 219}) == "gradients of " + name(0) + ".." + name(3));
  CHECK(name_bucket(net, 16, {0, 16}) == "totals of the step");
}

TEST_CASE("buckets: the head ends on a cache line") {
  CHECK(metadata_count(4) == 16);
  CHECK(metadata_count(16) == 16);
  CHECK(metadata_count(17) == 32);
}

TEST_CASE("buckets: only ways that differ are tried") {
  const Net net = make_bucket_net();
  const std::vector<std::size_t> sizes{1, 44, 100, 1000000};
  CHECK(plan_schedules(net, 16, {false, true}, sizes) ==
        std::vector<ReduceSchedule>{{false, 0}, {true, 1}, {true, 100}});
  CHECK(plan_schedules(net, 16, {true}, sizes) == std::vector<ReduceSchedule>{{true, 1}, {true, 100}});
  CHECK(plan_schedules(net, 16, {true}, {1000000}) ==
        std::vector<ReduceSchedule>{{true, 1000000}});  // as requested
  CHECK(plan_schedules(net, 16, {false, true}, {1000000}) == std::vector<ReduceSchedule>{{false, 0}});
  CHECK(render_reduce_schedule({}, std::vector<Range>{{0, 9}}) == "after each step");
  CHECK(render_reduce_schedule({true, 65536}, std::vector<Range>{{5, 9}, {3, 5}, {0, 3}}) ==
        "3 buckets from 64 kB, while computing");
  CHECK(render_reduce_schedule({true, 65536, 50}, std::vector<Range>{{5, 9}, {0, 3}, {3, 5}}) ==
        "3 buckets from 64 kB, 1 of them beside the next step");
}

TEST_CASE("buckets: across steps a share of the last layers, then the head, then as a forward pass reads") {
  const Net net = make_bucket_net();
  struct Row {
    ReduceSchedule schedule;
    std::vector<std::size_t> begins;
    std::size_t metadata;
  };
  const Row rows[] = {
      {{true, 1, 100}, {208, 48, 0}, 2},           // as ever: the metadata last
      {{true, 200, 50}, {128, 0, 48}, 1},          // 219 - 101 = 118, rounded up to a line: 128
      {{true, 44, 50}, {208, 128, 0, 16, 48}, 2},  // the metadata alone where the first layer is larger
      {{true, 1, 0}, {0, 16, 48, 208}, 0},         // nothing before it
      {{true, 1000, 25}, {176, 0}, 1},             // 219 - 50 = 169
      {{true, 1, 98}, {208, 48, 32, 0, 16}, 3},    // 219 - 198 = 21
      {{true, 1, 99}, {208, 48, 32, 0, 16}, 3},    // 219 - 200 = 19
  };
  for (const Row& row : rows) {
    CAPTURE(row.schedule.ahead_percent);
    std::vector<Range> buckets = order_buckets(net, 16, row.schedule);
    CHECK(begins_of(buckets) == row.begins);
    CHECK(find_metadata_bucket(buckets) == row.metadata);
    std::sort(buckets.begin(), buckets.end(),
              [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::size_t end = 0;
    for (const Range& bucket : buckets) {
      CHECK(bucket.begin == end);
      CHECK(bucket.end > bucket.begin);
      end = bucket.end;
    }
    CHECK(end == 16 + 203);
  }
}

TEST_CASE("buckets: ways across steps leave something for the next step, and differ") {
  const Net net = make_bucket_net();
  CHECK(plan_schedules_across(net, 16, 200) == std::vector<ReduceSchedule>{{true, 200, 30}, {true, 200, 60}});
  CHECK(plan_schedules_across(net, 16, 800) ==
        std::vector<ReduceSchedule>{});  // all the rest goes with the metadata
  CHECK(plan_schedules_across(net, 16, 0) == std::vector<ReduceSchedule>{});  // 64 kB at least
  // An eighth of all: 431,080 floats.
  const Net caffe = build_net("caffe", {1, 28, 28}, 10);
  CHECK(plan_schedules_across(caffe, 16, 0).at(1) == ReduceSchedule{true, 215540, 60});
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
