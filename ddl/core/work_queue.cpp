// SPDX-License-Identifier: MIT
#include "ddl/core/work_queue.hpp"

#include <utility>

namespace ddl {

void Handle::State::finish(std::exception_ptr how) {
  const std::lock_guard lock(mutex);
  done = true;
  error = std::move(how);
  changed.notify_all();
}

void Handle::wait() {
  if (!state_) return;
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Handle::done() const {
  if (!state_) return true;
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Handle WorkQueue::start(std::function<void()> work) {
  auto state = std::make_shared<Handle::State>();
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(work), state);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
  return Handle(std::move(state));
}

void WorkQueue::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
}

void WorkQueue::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto [work, state] = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    work = nullptr;  // destroys its captures before the waiter wakes
    state->finish(std::move(error));
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace ddl
