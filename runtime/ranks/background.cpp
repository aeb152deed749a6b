// SPDX-License-Identifier: MIT
#include "runtime/ranks/background.hpp"

#include <utility>

namespace ddlrun::runtime {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::size_t Background::start(std::function<void()> work) {
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    number = started_++;
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
  return number;
}

void Background::wait(std::size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ > number || error_; });
  if (error_) std::rethrow_exception(error_);
}

void Background::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    ++done_;
    if (error) {
      error_ = std::move(error);
      waiting_.clear();
    }
    changed_.notify_all();
    if (error_) return;
  }
}

}  // namespace ddlrun::runtime
