// SPDX-License-Identifier: MIT
// Runs work items on one thread, in the order of start(), while the caller computes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace ddlrun::runtime {

// To be used by one thread at a time.
class WorkerThread {
 public:
  WorkerThread() = default;
  // Finishes the current item and drops those that have not begun.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Queues an item and returns its number. After an item fails, later ones are skipped.
  std::size_t start(std::function<void()> work);
  // Waits for this item and all before it. Throws the exception of a failed item, from then on each time.
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
  std::thread thread_;  // started with the first item
};

}  // namespace ddlrun::runtime
