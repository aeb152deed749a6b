// SPDX-License-Identifier: MIT
// Which gradients travel together, and which way to make sums is kept.
#include "runtime/training/buckets.hpp"

#include "runtime/training/way_tuner.hpp"

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
    "buckets: one may start when all of its gradients are final, that with the head never before the end") {
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
  CHECK(head_count(4) == 16);
  CHECK(head_count(16) == 16);
  CHECK(head_count(17) == 32);
}

TEST_CASE("buckets: only ways that differ are tried") {
  const Net net = make_bucket_net();
  const std::vector<std::size_t> sizes{1, 44, 100, 1000000};
  CHECK(plan_ways(net, 16, {false, true}, sizes) == std::vector<SumWay>{{false, 0}, {true, 1}, {true, 100}});
  CHECK(plan_ways(net, 16, {true}, sizes) == std::vector<SumWay>{{true, 1}, {true, 100}});
  CHECK(plan_ways(net, 16, {true}, {1000000}) == std::vector<SumWay>{{true, 1000000}});  // as asked for
  CHECK(plan_ways(net, 16, {false, true}, {1000000}) == std::vector<SumWay>{{false, 0}});
  CHECK(render_way({}, 1) == "after each step");
  CHECK(render_way({true, 65536}, 3) == "3 buckets from 64 kB, while computing");
}

TEST_CASE("ways: each is tried in turn, the fastest median is kept, a hair's breadth is not enough") {
  struct Row {
    std::vector<double> seconds;  // of each way
    std::size_t kept;
  };
  const Row rows[] = {
      {{1.0, 0.9, 0.8}, 2}, {{1.0, 0.9, 1.1}, 1}, {{1.0, 0.99, 0.985}, 0}, {{0.5, 0.9, 0.8}, 0}};
  for (const Row& row : rows) {
    const std::vector<SumWay> ways{{false, 0}, {true, 1}, {true, 2}};
    WayTuner tuner(ways);
    bool done = false;
    std::size_t steps = 0;
    while (!done && steps < 1000) {
      ++steps;
      const auto now =
          static_cast<std::size_t>(std::find(ways.begin(), ways.end(), tuner.way()) - ways.begin());
      const double disturbance = steps % 9 == 0 ? 50.0 : 0.0;
      done = tuner.add(row.seconds[now] + disturbance);
    }
    REQUIRE(done);
    CHECK(steps < 40);
    CHECK(!tuner.settled());
    tuner.settle(tuner.medians());
    CHECK(tuner.settled());
    CHECK(tuner.way() == ways[row.kept]);
    CHECK(!tuner.add(1.0));
    CHECK(tuner.way() == ways[row.kept]);
  }
  WayTuner single({{true, 5}});
  CHECK(single.settled());
  CHECK(single.way() == SumWay{true, 5});
}

}  // namespace ddlrun::runtime
