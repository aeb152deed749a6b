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

TEST_CASE("the last copy of a Handle waits, so that an item never uses memory that is gone") {
  WorkQueue queue;
  const auto fill = [](std::vector<int>& values) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::fill(values.begin(), values.end(), 7);
  };
  for (int i = 0; i < 3; ++i) {  // address sanitizer sees a write into a vector that has ended
    std::vector<int> values(1000);
    const Handle dropped = queue.start([&] { fill(values); });
  }
  std::vector<int> values(1000);
  {
    Handle kept;
    {
      const Handle first = queue.start([&] { fill(values); });
      kept = first;
    }
    CHECK_FALSE(kept.done());  // a copy that is not the last does not wait
    const Handle moved = std::move(kept);
  }
  CHECK(values.back() == 7);
  values.back() = 0;
  Handle replaced = queue.start([&] { fill(values); });
  replaced = Handle();
  CHECK(values.back() == 7);
}

TEST_CASE("a Handle waits while an exception unwinds the stack, and has its state finished by the work") {
  WorkQueue queue;
  std::atomic<bool> done = false;
  try {
    const Handle dropped = queue.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    });
    throw std::runtime_error("the program's own");
  } catch (const std::runtime_error&) {
    CHECK(done);
  }
  std::atomic<bool> ended = false;
  const auto state = std::make_shared<Handle::State>();
  Handle early = queue.start_finishing(state, [&] {
    state->finish(nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ended = true;
  });
  early.wait();
  CHECK_FALSE(ended);
  queue.drain();
}

TEST_CASE("on the queue's own thread a Handle does not wait, for its item runs later there") {
  std::atomic<bool> done = false;
  WorkQueue queue;
  queue.start([&] { const Handle dropped = queue.start([&] { done = true; }); }).wait();
  queue.drain();
  CHECK(done);
}

TEST_CASE("drain() waits for all items, and returns at once inside an item") {
  std::atomic<int> done = 0;
  WorkQueue queue;
  queue.drain();
  std::vector<Handle> handles;
  for (int i = 0; i < 3; ++i) {
    handles.push_back(queue.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      queue.drain();
      ++done;
    }));
  }
  queue.drain();
  CHECK(done == 3);
}

TEST_CASE("the destructor completes what was started") {
  std::atomic<int> done = 0;
  std::vector<Handle> handles;
  {
    WorkQueue queue;
    for (int i = 0; i < 3; ++i) {
      handles.push_back(queue.start([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++done;
      }));
    }
  }
  CHECK(done == 3);
}

TEST_SUITE_END();
