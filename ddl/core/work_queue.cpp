// SPDX-License-Identifier: MIT
#include "ddl/work_queue.hpp"

#include "ddl/error.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace ddl {

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

// What `work` throws; null for nothing.
std::exception_ptr error_of(const std::function<void()>& work) {
  try {
    work();
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.text();
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of another type";
  }
}

// The last Handle of a call ends: its memory may be freed next.
void await_dropped(Handle::State& state, std::thread::id runs_on) {
  if (std::this_thread::get_id() == runs_on) return;
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.done; });
  if (!state.error || state.has_thrown || std::uncaught_exceptions() > 0) return;
  const std::string text =
      "libddl: a started call failed, and its Handle ended without wait(): " + text_of(state.error) + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Handle::Handle(std::shared_ptr<State> state, std::thread::id runs_on) {
  if (!state) return;
  State* const its = state.get();
  state_ = std::shared_ptr<State>(
      its, [kept = std::move(state), runs_on](State* ended) { await_dropped(*ended, runs_on); });
}

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
  if (!state_->error) return;
  state_->has_thrown = true;
  std::rethrow_exception(state_->error);
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
  return push(std::move(work), std::make_shared<Handle::State>(), false);
}

Handle WorkQueue::start_finishing(std::shared_ptr<Handle::State> state, std::function<void()> work) {
  return push(std::move(work), std::move(state), true);
}

Handle WorkQueue::push(std::function<void()> work, std::shared_ptr<Handle::State> state, bool finishes_it) {
  std::thread::id runs_on;
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(work), finishes_it ? nullptr : state);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    runs_on = thread_.get_id();
  }
  changed_.notify_all();
  return Handle(std::move(state), runs_on);
}

Handle WorkQueue::run_or_start(std::function<void()> work) {
  if (!is_idle()) return start(std::move(work));
  auto state = std::make_shared<Handle::State>();
  state->finish(error_of(work));
  return Handle(std::move(state));
}

void WorkQueue::drain() {
  if (is_this_thread()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
}

bool WorkQueue::is_idle() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !busy_;
}

void WorkQueue::run() {
  thread_id_ = std::this_thread::get_id();
  ask_for_short_slices();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto [work, state] = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr error = error_of(work);
    work = nullptr;  // destroys its captures before the waiter wakes
    if (state) state->finish(std::move(error));
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace ddl
