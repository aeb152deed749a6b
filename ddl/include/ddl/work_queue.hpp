// SPDX-License-Identifier: MIT
// The communication thread: runs work items one after the other while the program computes. A Context has
// one; a program that sums without a Context may have its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace ddl {

// A call that was started and runs on the communication thread. The memory of its tensor must stay valid
// until wait() returns.
//
// The destructor of the last copy blocks until the call is complete, so that no call uses memory which the
// program frees next: a Handle that is dropped makes a start a blocking call. An error that no wait() threw
// is printed then, unless an exception is on its way. On the communication thread itself the destructor does
// not wait, for what it waits for may run after it.
class [[nodiscard]] Handle {
 public:
  struct State;
  Handle() = default;
  // `runs_on`: the thread that completes the call.
  explicit Handle(std::shared_ptr<State> state, std::thread::id runs_on = {});
  // Blocks until the call is complete; throws the error of the call, each time. An empty Handle returns at
  // once. Any thread.
  void wait();
  // True when wait() would not block. Any thread.
  bool done() const;

 private:
  std::shared_ptr<State> state_;  // its last owner waits; the thread that works owns the State, too
};

// Shared between the thread that waits and the thread that works.
struct Handle::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
  bool has_thrown = false;  // the program has the error

  void finish(std::exception_ptr how);
};

class WorkQueue {
 public:
  WorkQueue() = default;
  ~WorkQueue();  // completes all items first
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Items run in the order of start(). The first one starts the thread. Throws nothing of `work`: see
  // Handle::wait().
  Handle start(std::function<void()> work);
  // The same for work that finishes `state` itself, which may be before it ends.
  Handle start_finishing(std::shared_ptr<Handle::State> state, std::function<void()> work);
  // The same on the calling thread, before it returns, if no item is left.
  Handle run_or_start(std::function<void()> work);
  // Returns when no item is left, at once on the queue's own thread; does not throw what the items threw.
  void drain();
  // Whether no item is left. Does not block.
  bool is_idle() const;
  // Whether the calling thread runs the items.
  bool is_this_thread() const { return std::this_thread::get_id() == thread_id_; }

 private:
  void run();
  Handle push(std::function<void()> work, std::shared_ptr<Handle::State> state, bool finishes_it);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Without a State for work that finishes it itself.
  std::deque<std::pair<std::function<void()>, std::shared_ptr<Handle::State>>> waiting_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_;  // none before the first item
};

}  // namespace ddl
