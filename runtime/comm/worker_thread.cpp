// SPDX-License-Identifier: MIT
#include "runtime/comm/worker_thread.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace ddlrun::runtime {
namespace {

// The kernel's struct sched_attr in its first form; Debian 12's C library has none.
struct ScheduleAttributes {
  std::uint32_t size = sizeof(ScheduleAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 100'000;  // ns: the time slice, the shortest there is
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

// Who computes on the same core has it for a whole slice, 3 ms and more, unless the one that wakes up asks
// for less at a time (Linux 6.12; older ones do not listen). Other policies stay as they are.
void ask_for_short_slices() {
  ScheduleAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  attributes.flags = 0;
  attributes.runtime = ScheduleAttributes{}.runtime;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace

WorkerThread::~WorkerThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::size_t WorkerThread::start(std::function<void()> work) {
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

void WorkerThread::wait(std::size_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ > number || error_; });
  if (error_) std::rethrow_exception(error_);
}

void WorkerThread::run() {
  ask_for_short_slices();
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
