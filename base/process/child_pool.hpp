// SPDX-License-Identifier: MIT
// Children that live for as long as a job: input, output and ends of all of them at once, beside our own
// streams and signals, and the clock that goes with them. `ddlrun ssh-launch` and `ssh-daemon` wait in it.
#pragma once

#include "base/os/system.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ddlrun {

struct ChildSpec {
  Command command;
  EnvVars extra;           // added to its environment
  bool has_stdin = false;  // its stdin is ours to write; else it is empty
  // In the child, before it becomes the command: its stderr is read; false ends it with 126.
  std::function<bool()> prepare;
};

// Called with output, ends and signals. A child that could not be started ends too, with `start_error`.
struct ChildCallbacks {
  std::function<void(std::size_t member, std::string_view bytes)> out, err;
  std::function<void(std::size_t member, const ProcessResult& end)> ended;  // after all of its output
  std::function<void(std::string_view bytes)> input;                        // our own stdin; "" is its end
  std::function<void(int signal)> signal;                                   // to us
};

class ChildPool {
 public:
  using Clock = std::chrono::steady_clock;

  ChildPool() = default;
  virtual ~ChildPool() = default;
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  // Each member leads a process group of its own. Returns its number, ascending from 0.
  virtual std::size_t start(const ChildSpec& member) = 0;
  virtual void write_stdin(std::size_t member, std::string_view bytes) = 0;  // dropped where it is closed
  virtual void close_input(std::size_t member) = 0;              // once all that was written is taken
  virtual std::size_t pending_in(std::size_t member) const = 0;  // bytes that wait
  virtual void signal(std::size_t member, int signal) = 0;       // to its group
  virtual std::size_t alive() const = 0;

  virtual void write_output(int stream, std::string_view bytes) = 0;  // to our own stdout or stderr
  virtual std::size_t pending_out() const = 0;
  virtual bool output_closed() const = 0;  // the reader of our stdout is gone

  bool reads_members = true;  // false: their output stays in their pipes
  bool reads_input = false;   // our own stdin is read

  // Waits for events, at most `limit`, and calls back.
  virtual void wait(std::chrono::milliseconds limit, const ChildCallbacks& callbacks) = 0;
  // TERM to all that members left behind, KILL after `grace`.
  virtual void end_leftovers(std::chrono::milliseconds grace) = 0;

  // Room for so many descriptors; false where the system allows fewer.
  virtual bool allow_descriptors(std::size_t count) = 0;
  virtual Clock::time_point now() const = 0;
};

}  // namespace ddlrun
