// SPDX-License-Identifier: MIT
#include "ddl/work_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace ddl;

TEST_SUITE_BEGIN("ddl/core/work_queue");

TEST_CASE("items run in the order of start(), on one thread that is not the caller's") {
  std::vector<int> done;
  std::atomic<int> elsewhere = 0;
  WorkQueue queue;
  Handle last;
  for (int i = 0; i < 100; ++i) {
    last = queue.start([&, i] {
      done.push_back(i);
      elsewhere += queue.is_this_thread() ? 1 : 0;
    });
  }
  last.wait();
  CHECK(last.done());
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(done == expected);
  CHECK(elsewhere == 100);
  CHECK_FALSE(queue.is_this_thread());
}

TEST_CASE("wait() throws the error of its item, each time; other items are not affected") {
  WorkQueue queue;
  Handle failed = queue.start([] { throw std::runtime_error("the third wheel"); });
  Handle next = queue.start([] {});
  CHECK_THROWS_WITH(failed.wait(), "the third wheel");
  CHECK_THROWS_WITH(failed.wait(), "the third wheel");
  CHECK_NOTHROW(next.wait());
  CHECK_NOTHROW(Handle().wait());
}

TEST_CASE("drain() waits for all items, and returns at once inside an item") {
  std::atomic<int> done = 0;
  WorkQueue queue;
  queue.drain();
  for (int i = 0; i < 3; ++i) {
    queue.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      queue.drain();
      ++done;
    });
  }
  queue.drain();
  CHECK(done == 3);
}

TEST_CASE("the destructor completes what was started") {
  std::atomic<int> done = 0;
  {
    WorkQueue queue;
    for (int i = 0; i < 3; ++i) {
      queue.start([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++done;
      });
    }
  }
  CHECK(done == 3);
}

TEST_SUITE_END();
