// SPDX-License-Identifier: MIT
// Which rank does not respond at the end of a chain of ranks that wait for each other; how ranks that give up
// are reported.
#include "ddl/core/liveness_inspector.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("ddl/core/liveness_inspector");

namespace {

using std::chrono::milliseconds;

struct Post {
  explicit Post(std::size_t ranks) : boxes(ranks) {}
  std::mutex mutex;
  std::vector<std::deque<ddl::OobChannel::Received>> boxes;
};

class ThreadBox : public ddl::OobChannel {
 public:
  ThreadBox(Post& post, int rank) : post_(post), rank_(rank) {}
  int rank() const override { return rank_; }
  void send(int to, const ddl::OobMessage& message) override {
    const std::lock_guard lock(post_.mutex);
    post_.boxes[static_cast<std::size_t>(to)].push_back({rank_, message});
  }
  std::optional<Received> take() override {
    const std::lock_guard lock(post_.mutex);
    auto& mine = post_.boxes[static_cast<std::size_t>(rank_)];
    if (mine.empty()) return std::nullopt;
    Received first = mine.front();
    mine.pop_front();
    return first;
  }

 private:
  Post& post_;
  int rank_;
};

std::string plain_name(int rank) { return "rank " + std::to_string(rank); }

ddl::LivenessInspector inspector_of(Post& post, int rank, std::vector<int> neighbours = {}) {
  return {std::make_unique<ThreadBox>(post, rank), plain_name, std::move(neighbours), milliseconds(300)};
}

}  // namespace

TEST_CASE("down the chain to the one that does not respond") {
  struct Row {
    std::vector<int> waits;  // of each rank; -1: silent
    int silent;              // as rank 0 finds
    bool deadlock;
    std::string reported;
  };
  const Row rows[] = {
      {{1, -1}, 1, false, "rank 0 waits for rank 1, which does not respond"},
      {{3, -1, 1, 2},
       1,
       false,
       "rank 0 waits for rank 3, which waits for rank 2, which waits for rank 1, which does not respond"},
      {{1, 2, 1},
       1,
       true,
       "rank 0 waits for rank 1, which waits for rank 2, which waits for rank 1: they wait for each other"},
      {{1, 0}, 0, true, "rank 0 waits for rank 1, which waits for rank 0: they wait for each other"},
      {{1, 2, 3, 4, 5, 6, 7, -1},
       7,
       false,
       "rank 0 waits for rank 1, which waits for 2 more one after the other, which waits for rank 4, which "
       "waits "
       "for rank 5, which waits for rank 6, which waits for rank 7, which does not respond"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.reported);
    Post post(row.waits.size());
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    for (std::size_t rank = 1; rank < row.waits.size(); ++rank) {
      if (row.waits[rank] < 0) continue;
      threads.emplace_back([&, rank] {
        ddl::LivenessInspector inspector = inspector_of(post, static_cast<int>(rank));
        while (!over) {
          inspector.poll(row.waits[rank]);
          std::this_thread::sleep_for(milliseconds(1));
        }
      });
    }
    const auto found = inspector_of(post, 0).find_unresponsive(row.waits[0]);
    over = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(found.rank == row.silent);
    CHECK(found.deadlock == row.deadlock);
    CHECK(found.name == plain_name(row.silent));
    CHECK(found.chain == row.reported);
  }
}

TEST_CASE("a rank that waits for several names another than the one that asks") {
  Post post(3);
  std::atomic<bool> over = false;
  std::thread server([&] {
    ddl::LivenessInspector inspector = inspector_of(post, 2);
    const int awaited[] = {0, 1};
    while (!over) {
      inspector.poll(awaited);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const auto found = inspector_of(post, 0).find_unresponsive(2);
  over = true;
  server.join();
  CHECK(found.rank == 1);
  CHECK(!found.deadlock);
  CHECK(found.chain == "rank 0 waits for rank 2, which waits for rank 1, which does not respond");
}

TEST_CASE("ranks that search at the same time find the same rank") {
  Post post(3);
  std::string said[2];
  std::thread server([&] {
    ddl::LivenessInspector inspector = inspector_of(post, 2);
    const int awaited[] = {0, 1};
    inspector.poll(awaited);
    for (const int rank : awaited) {
      const auto found = inspector.find_unresponsive(rank);
      if (!found.deadlock) said[1] = found.name;
    }
  });
  ddl::LivenessInspector worker = inspector_of(post, 0);
  worker.poll(2);
  said[0] = worker.find_unresponsive(2).name;
  for (int i = 0; i < 100; ++i) {
    worker.poll(2);
    std::this_thread::sleep_for(milliseconds(3));
  }
  server.join();
  CHECK(said[0] == "rank 1");
  CHECK(said[1] == "rank 1");
}

TEST_CASE("all that wait in a ring find the same rank, in any order of giving up") {
  constexpr int ranks = 6;
  Post post(ranks);
  std::vector<std::string> said(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == 2) continue;
    threads.emplace_back([&, rank] {
      ddl::LivenessInspector inspector = inspector_of(post, rank, {(rank + 1) % ranks});
      const int left = (rank + ranks - 1) % ranks;
      try {
        for (int i = 0; i < 20 + 30 * rank; ++i) {  // they give up one after the other
          inspector.poll(left);
          std::this_thread::sleep_for(milliseconds(1));
        }
        const auto found = inspector.find_unresponsive(left);
        throw ddl::Error(ddl::Fault::lost, found.chain, found.name, "look there");
      } catch (const ddl::Error& error) {
        CHECK(error.fault() == ddl::Fault::lost);
        CHECK(error.hint() == "look there");
        said[static_cast<std::size_t>(rank)] = error.where();
        inspector.report_failure(error);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < ranks; ++rank) {
    CAPTURE(rank);
    CHECK(said[static_cast<std::size_t>(rank)] == (rank == 2 ? "" : "rank 2"));
  }
}

namespace {

// rank 1 answers in a call of its own until rank 0 has its error.
std::string error_of_rank_0(const ddl::CallSummary& call_0, const ddl::CallSummary& call_1,
                            bool asks_at_once) {
  Post post(2);
  std::atomic<bool> over = false;
  std::thread other([&] {
    ddl::LivenessInspector inspector = inspector_of(post, 1);
    inspector.set_call_finder({[&] { return call_1; }, [&](std::uint64_t, std::uint64_t) { return call_1; }});
    while (!over) {
      inspector.poll(std::span<const int>());
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  ddl::LivenessInspector inspector = inspector_of(post, 0);
  inspector.set_call_finder({[&] { return call_0; }, [&](std::uint64_t, std::uint64_t) { return call_0; }});
  std::string error;
  try {
    if (asks_at_once) throw inspector.mismatch(1);
    for (int i = 0; i < 700; ++i) {
      inspector.poll(1);
      std::this_thread::sleep_for(milliseconds(3));
    }
  } catch (const ddl::Error& caught) {
    error = caught.what();
    CHECK(caught.fault() == ddl::Fault::mismatch);
  }
  over = true;
  other.join();
  return error;
}

}  // namespace

TEST_CASE("a rank whose message does not belong to the call is asked for its own call") {
  const std::string both = "rank 1 calls barrier #2, rank 0 calls all_reduce #2 (sum) of 4 float32";
  CHECK(error_of_rank_0({2, 7, "all_reduce #2 (sum) of 4 float32"}, {2, 8, "barrier #2"}, true) == both);
}

TEST_CASE("a long wait compares the calls, of the same sequence only") {
  const std::string both = "rank 1 calls barrier #2, rank 0 calls all_reduce #2 (sum) of 4 float32";
  const ddl::CallSummary mine{2, 7, "all_reduce #2 (sum) of 4 float32"};
  CHECK(error_of_rank_0(mine, {2, 8, "barrier #2"}, false) == both);
  CHECK(error_of_rank_0(mine, {2, 7, mine.text}, false).empty());
  CHECK(error_of_rank_0(mine, {1, 8, "barrier #1"}, false).empty());  // it comes later
  CHECK(error_of_rank_0(mine, {}, false).empty());
  CHECK(error_of_rank_0(mine, {2, 8, "barrier #2 in row 1", 5}, false).empty());  // of another group
}

TEST_CASE("ranks that wait for each other in different groups: the chain has their calls") {
  Post post(2);
  std::atomic<bool> over = false;
  std::thread other([&] {
    ddl::LivenessInspector inspector = inspector_of(post, 1);
    inspector.set_call_finder({[] { return ddl::CallSummary{4, 7, "barrier #4 in row 1", 5}; }, {}});
    while (!over) {
      inspector.poll(0);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  ddl::LivenessInspector inspector = inspector_of(post, 0);
  std::uint64_t group = 0;
  inspector.set_call_finder({[&] { return ddl::CallSummary{9, 7, "all_reduce #9", group}; }, {}});
  const auto elsewhere = inspector.find_unresponsive(1);
  CHECK(elsewhere.deadlock);
  CHECK(elsewhere.chain ==
        "rank 0 waits for rank 1, which waits in barrier #4 in row 1 for rank 0: they wait for each other");
  group = 5;
  CHECK(inspector.find_unresponsive(1).chain ==
        "rank 0 waits for rank 1, which waits for rank 0: they wait for each other");
  over = true;
  other.join();
}

TEST_CASE("the end of a group does not count as the end of the others") {
  Post post(2);
  const int to[] = {0};
  inspector_of(post, 1).report_end(to, ddl::ContextEnd::in_order, 5);
  ddl::LivenessInspector inspector = inspector_of(post, 0);
  std::uint64_t group = 0;
  inspector.set_call_finder({[&] { return ddl::CallSummary{3, 7, "all_reduce #3", group}; }, {}});
  const auto poll_for_a_while = [&] {
    for (int i = 0; i < 500; ++i) {
      inspector.poll(1);
      std::this_thread::sleep_for(milliseconds(3));
    }
  };
  CHECK_NOTHROW(poll_for_a_while());
  group = 5;
  CHECK_THROWS_WITH_AS(poll_for_a_while(), "rank 1 makes no more calls, and this is all_reduce #3",
                       ddl::Error);
}

TEST_CASE(
    "a rank that has ended in order is reported while it is awaited, after a while for its last messages") {
  for (const auto how : {ddl::ContextEnd::in_order, ddl::ContextEnd::by_exit}) {
    CAPTURE(static_cast<int>(how));
    Post post(3);
    const int to[] = {0};
    inspector_of(post, 1).report_end(to, how);
    ddl::LivenessInspector inspector = inspector_of(post, 0);
    inspector.set_call_finder({[] { return ddl::CallSummary{3, 7, "all_reduce #3"}; }, {}});
    for (int i = 0; i < 100; ++i) {
      inspector.poll(2);
      std::this_thread::sleep_for(milliseconds(3));
    }
    CHECK_NOTHROW(inspector.poll(1));
    std::string error;
    for (int i = 0; i < 1000 && error.empty(); ++i) {
      try {
        inspector.poll(1);
      } catch (const ddl::Error& caught) {
        error = caught.what();
        CHECK(caught.where() == "rank 1");
      }
      std::this_thread::sleep_for(milliseconds(3));
    }
    const bool exited = how == ddl::ContextEnd::by_exit;
    CHECK(error == (exited ? "rank 1 ended by exit() with its Context alive, before it came to all_reduce #3"
                           : "rank 1 makes no more calls, and this is all_reduce #3"));
    CHECK(inspector.has_exited(1) == exited);
    CHECK_FALSE(inspector.has_exited(2));
  }
}

TEST_SUITE_END();
