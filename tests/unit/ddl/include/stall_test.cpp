// SPDX-License-Identifier: MIT
// A rank that stays away is reported, by one rank, at doubling times, with what it was last seen at, and when
// it comes.
#include "ddl/api/context_factory.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/thread/thread_transport.hpp"
#include "tests/unit/ddl/node/node_ranks.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <mutex>

TEST_SUITE_BEGIN("ddl/include/stall");

namespace {

using ddl::NodeCollectives;
using ddl::NodeComm;
using ddl::Stall;
using std::chrono::milliseconds;

struct Announcement {
  std::mutex mutex;
  std::vector<std::pair<int, Stall>> stalls;  // by whom
  ddl::StallWatch set_stall_watch(int rank, double seconds) {
    return {seconds, [this, rank](const Stall& stall) {
              const std::lock_guard lock(mutex);
              stalls.emplace_back(rank, stall);
            }};
  }
};

}  // namespace

TEST_CASE("stall: a rank that comes before the second report still ends the first one") {
  std::vector<Stall> reports;
  const ddl::StallWatch watch{1.0, [&](const Stall& stall) { reports.push_back(stall); }};
  ddl::StallTimer timer(watch);
  const auto late = [] {
    Stall stall;
    stall.missing = {"rank 1 (h2)"};
    return stall;
  };
  timer.waited(0.9, late);
  CHECK(reports.empty());
  timer.waited(1.0, late);
  timer.waited(2.0, [] { return Stall(); });
  REQUIRE(reports.size() == 1);
  timer.over(2.1);
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].over);
  CHECK(reports[1].missing == std::vector<std::string>{"rank 1 (h2)"});
}

TEST_CASE("stall: the first of those that wait reports, at doubling times, and that it is over") {
  Announcement reported;
  ddl::tests::on_threads(4, [&](NodeComm& group) {
    NodeCollectives stage(group, 30.0);
    const int rank = group.local_rank();
    stage.set_stall_watch(reported.set_stall_watch(rank, 0.2));
    stage.set_progress(100 + static_cast<std::uint64_t>(rank));
    stage.barrier({811, 0});
    if (rank == 0 || rank == 3) std::this_thread::sleep_for(milliseconds(1000));
    stage.barrier({812, 0});
  });
  REQUIRE(reported.stalls.size() >= 3);
  double last = 0.0;
  for (const auto& [rank, stall] : reported.stalls) {
    CHECK(rank == 1);
    CHECK(stall.missing == std::vector<std::string>{"rank 0 (h2)", "rank 3 (h2)"});
    CHECK(stall.call == "barrier #812");
    CHECK(stall.seen == "last in barrier #811");
    CHECK(stall.progress == 100);
    CHECK(stall.over == (&stall == &reported.stalls.back().second));
    CHECK(stall.seconds >= last);
    last = stall.seconds;
  }
  CHECK(reported.stalls[0].second.seconds >= 0.2);
  CHECK(reported.stalls[1].second.seconds >= 0.4);
  CHECK(reported.stalls.size() <= 4);
}

TEST_CASE("stall: no one reports of short waits, or where no one asked") {
  Announcement reported;
  ddl::tests::on_threads(3, [&](NodeComm& group) {
    NodeCollectives stage(group, 30.0);
    stage.set_stall_watch(reported.set_stall_watch(group.local_rank(), group.local_rank() == 0 ? 0.0 : 2.0));
    if (group.local_rank() == 2) std::this_thread::sleep_for(milliseconds(400));
    stage.barrier({1, 0});
  });
  CHECK(reported.stalls.empty());
}

TEST_CASE("stall: a context names the tensor, and what is missing in a sum that was started") {
  Announcement reported;
  auto all = ddl::make_thread_transports({"h0", "h0"});
  std::vector<std::thread> threads;
  for (auto& ranks : all) {
    threads.emplace_back([&reported, &ranks] {
      const int rank = ranks->rank();
      ddl::Options options;
      options.stall = reported.set_stall_watch(rank, 0.1);
      ddl::Context ddl = ddl::ContextFactory::make(std::move(ranks), options);
      ddl.set_progress(7);
      std::vector<float> values(10, 1.0F);
      if (rank == 1) std::this_thread::sleep_for(milliseconds(500));
      ddl.start_all_reduce(ddl::tensor(std::span(values), "bucket 2"), ddl::Operation::sum).wait();
      CHECK(values[9] == 2.0F);
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(reported.stalls.size() >= 2);
  for (const auto& [rank, stall] : reported.stalls) {
    CHECK(rank == 0);
    CHECK(stall.missing == std::vector<std::string>{"rank 1 (h0)"});
    CHECK(stall.tensor == "bucket 2");
    CHECK(stall.call == "all_reduce #1 of 10 float32");
    CHECK(stall.progress == 7);
  }
  CHECK(reported.stalls.back().second.over);
}

TEST_SUITE_END();
