// SPDX-License-Identifier: MIT
// Work that goes on while the caller computes: on one thread, in the order in which it was started.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace ddlrun::runtime {

// Used by one thread at a time.
class WorkerThread {
 public:
  WorkerThread() = default;
  // Ends the work that is going on; what has not begun is dropped.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Returns its number. After a work that failed the others are not done.
  std::size_t start(std::function<void()> work);
  // Returns when this work and all before it are done. Throws what one of them threw, from then on each time.
  void wait(std::size_t number);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t started_ = 0;
  std::size_t done_ = 0;
  bool ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // since the first work
};

}  // namespace ddlrun::runtime
