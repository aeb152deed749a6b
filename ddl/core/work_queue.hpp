// SPDX-License-Identifier: MIT
// The communication thread: does one thing after the other while the program computes. Started by the first
// thing.
#pragma once

#include "ddl/ddl.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace ddl {

// Shared between the one who waits and the one who works.
struct Handle::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  void finish(std::exception_ptr how);
};

class WorkQueue {
 public:
  WorkQueue() = default;
  ~WorkQueue();  // what was started is done first
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  Handle start(std::function<void()> work);
  // Returns when nothing is under way; does not throw what the works threw.
  void drain();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::function<void()>, std::shared_ptr<Handle::State>>> waiting_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace ddl
