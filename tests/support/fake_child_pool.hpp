// SPDX-License-Identifier: MIT
// Children without processes, on a clock that wait() moves from event to event.
#pragma once

#include "base/process/child_pool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::tests {

struct FakeChildPool : ChildPool {
  using Ms = std::chrono::milliseconds;

  struct Child {
    ChildSpec spec;
    std::string in;  // all that was written to its stdin
    bool input_closed = false;
    std::vector<int> signals;
    std::vector<Ms> signal_times;  // since the start of the test
    bool alive = true;
    Ms started{0};
  };
  std::vector<Child> children;
  std::string out, err;                   // what was written to our own streams
  bool closed = false;                    // the reader of our stdout is gone
  bool has_room = true;                   // for descriptors
  std::size_t held_in = 0, held_out = 0;  // bytes that no one reads
  std::vector<Ms> leftovers;              // graces of end_leftovers
  std::function<void(std::size_t child)> on_start = [](std::size_t) {};
  std::function<void(std::size_t child)> on_input = [](std::size_t) {};
  std::function<void(std::size_t child, int signal)> on_signal = [](std::size_t, int) {};

  using Event = std::function<void(const ChildCallbacks&)>;
  void after(Ms delay, Event event) { events_.emplace(time_ + delay, std::move(event)); }
  void print(std::size_t child, std::string bytes, Ms delay = Ms(0)) {
    after(delay, [this, child, bytes](const ChildCallbacks& callbacks) {
      if (children[child].alive) callbacks.out(child, bytes);
    });
  }
  void print_err(std::size_t child, std::string bytes, Ms delay = Ms(0)) {
    after(delay, [this, child, bytes](const ChildCallbacks& callbacks) {
      if (children[child].alive) callbacks.err(child, bytes);
    });
  }
  void end(std::size_t child, ProcessResult result, Ms delay = Ms(0)) {
    after(delay, [this, child, result](const ChildCallbacks& callbacks) {
      if (!std::exchange(children[child].alive, false)) return;
      callbacks.ended(child, result);
    });
  }
  void exit(std::size_t child, int status, Ms delay = Ms(0)) {
    ProcessResult result;
    result.exit_status = status;
    end(child, std::move(result), delay);
  }
  void end_by(std::size_t child, int signal) {
    ProcessResult result;
    result.signal = signal;
    result.exit_status = 128 + signal;
    end(child, std::move(result));
  }
  void type(std::string bytes, Ms delay = Ms(0)) {
    after(delay, [bytes](const ChildCallbacks& callbacks) { callbacks.input(bytes); });
  }
  void send_signal(int signal, Ms delay) {
    after(delay, [signal](const ChildCallbacks& callbacks) { callbacks.signal(signal); });
  }
  Ms elapsed() const { return std::chrono::duration_cast<Ms>(time_.time_since_epoch()); }

  std::size_t start(const ChildSpec& member) override {
    children.push_back({member, {}, false, {}, {}, true, elapsed()});
    on_start(children.size() - 1);
    return children.size() - 1;
  }
  void write_stdin(std::size_t member, std::string_view bytes) override {
    if (!children.at(member).alive || children[member].input_closed) return;
    children[member].in += bytes;
    on_input(member);
  }
  void close_input(std::size_t member) override { children.at(member).input_closed = true; }
  std::size_t pending_in(std::size_t) const override { return held_in; }
  void signal(std::size_t member, int signal) override {
    if (member >= children.size() || !children[member].alive) return;
    children[member].signals.push_back(signal);
    children[member].signal_times.push_back(elapsed());
    on_signal(member, signal);
  }
  std::size_t alive() const override {
    return static_cast<std::size_t>(std::ranges::count_if(children, &Child::alive));
  }
  void write_output(int stream, std::string_view bytes) override { (stream == 1 ? out : err) += bytes; }
  std::size_t pending_out() const override { return held_out; }
  bool output_closed() const override { return closed; }
  void wait(Ms limit, const ChildCallbacks& callbacks) override {
    REQUIRE_MESSAGE(++waits_ < 100'000, "the loop has no end");
    const auto next = events_.begin();
    if (next == events_.end() || next->first > time_ + limit) {
      time_ += limit;
      return;
    }
    time_ = std::max(time_, next->first);
    const Event event = std::move(next->second);
    events_.erase(next);
    event(callbacks);
  }
  void end_leftovers(Ms grace) override { leftovers.push_back(grace); }
  bool allow_descriptors(std::size_t) override { return has_room; }
  Clock::time_point now() const override { return time_; }

 private:
  Clock::time_point time_{};
  std::multimap<Clock::time_point, Event> events_;
  int waits_ = 0;
};

}  // namespace ddlrun::tests
