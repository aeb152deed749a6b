// SPDX-License-Identifier: MIT
// What ranks are told when one of them calls something else, stays away or leaves, with threads for ranks.
#include "ddl/ddl.hpp"
#include "ddl/ranks.hpp"
#include "tests/support/thread_contexts.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <stdexcept>

namespace {

using ddl::Context;
using ddl::Operation;
using ddl::Options;
using ddl::tests::packed_hosts;
using ddl::tests::run_contexts;

}  // namespace

TEST_CASE("ranks that differ are told which, and nobody waits for ever") {
  struct Row {
    std::string what;
    std::vector<std::string> hosts;
    std::function<void(Context&)> odd;  // what rank 1 does; the others sum 100 float32
    std::string says;
  };
  const auto sum_100 = [](Context& ddl) {
    std::vector<float> values(100, 1.0F);
    ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
  };
  const std::vector<Row> rows = {
      {"another size on one host", packed_hosts(1, 3),
       [](Context& ddl) {
         std::vector<float> values(101, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
       },
       "rank 1"},
      {"another size on another host", packed_hosts(3, 1),
       [](Context& ddl) {
         std::vector<float> values(101, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
       },
       "rank"},
      {"another operation", packed_hosts(3, 1),
       [](Context& ddl) {
         std::vector<float> values(100, 1.0F);
         ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::max);
       },
       "rank"},
      {"does not come", packed_hosts(1, 2),
       [](Context&) { std::this_thread::sleep_for(std::chrono::milliseconds(1500)); }, "rank 1"},
      {"goes away", packed_hosts(2, 1), [](Context&) {}, "rank 1"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    std::mutex mutex;
    std::vector<std::string> told;
    Options options;
    options.timeout_seconds = 1.0;
    CHECK_THROWS_AS(run_contexts(row.hosts, options,
                                 [&](Context& ddl) {
                                   try {
                                     if (ddl.rank() == 1) return row.odd(ddl);
                                     sum_100(ddl);
                                     const std::lock_guard lock(mutex);
                                     told.push_back("nothing");
                                   } catch (const ddl::Error& error) {
                                     const std::lock_guard lock(mutex);
                                     told.push_back(std::string(error.what()) + " at " + error.where());
                                     CHECK(!error.hint().empty());
                                     throw;
                                   }
                                 }),
                    ddl::Error);
    CHECK(!told.empty());
    for (const std::string& text : told) {
      CAPTURE(text);
      CHECK(text.find(row.says) != std::string::npos);
    }
  }
}

TEST_CASE("a rank that leaves is told at once, by an exception of its own or in order") {
  for (const bool throws : {true, false}) {
    CAPTURE(throws);
    Options options;
    options.timeout_seconds = 60.0;
    const auto start = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::vector<std::string> told;
    const auto work = [&](Context& ddl) {
      if (ddl.rank() == 1 && throws) throw std::runtime_error("cannot open part-1.bin");
      if (ddl.rank() == 1) return;
      try {
        ddl.barrier();
      } catch (const ddl::Error& error) {
        const std::lock_guard lock(mutex);
        told.emplace_back(error.what());
        throw;
      }
    };
    CHECK_THROWS(run_contexts(packed_hosts(1, 3), options, work));
    REQUIRE(told.size() == 2);
    const std::string says = throws ? "an exception ended the Context of rank 1 (h0)" : "rank 1 (h0) ended";
    CHECK(told[0].find(says) != std::string::npos);
    CHECK(told[1] == told[0]);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  }
}

TEST_CASE("hosts of several ranks: the call is told as the program made it") {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto work = [&](Context& ddl) {
    std::vector<float> values(ddl.rank() == 1 ? 101 : 100, 1.0F);
    try {
      ddl.all_reduce(ddl::tensor(std::span(values), "conv1"), Operation::sum);
    } catch (const ddl::Error& error) {
      const std::lock_guard lock(mutex);
      if (ddl.host() == 0) told.emplace_back(error.what());
      throw;
    }
  };
  CHECK_THROWS_AS(run_contexts(packed_hosts(2, 2), {}, work), ddl::Error);
  const std::string says =
      "rank 1 (h0) calls all_reduce #1 of 101 float32, rank 0 (h0) calls all_reduce #1 of 100 float32";
  CHECK(told == std::vector<std::string>(2, says));
}

TEST_CASE("numbers at no address are refused") {
  ddl::Context alone(ddl::make_single_rank(), Options{});
  ddl::Tensor nothing{nullptr, 5, ddl::DataType::float32, "conv1"};
  CHECK_THROWS_WITH_AS(alone.all_reduce(nothing, Operation::sum), "5 float32 at no address", ddl::Error);
  CHECK_THROWS_AS(alone.broadcast(nothing, 0), ddl::Error);
  nothing.count = 0;
  CHECK_NOTHROW(alone.all_reduce(nothing, Operation::sum));
}
