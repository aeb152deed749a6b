// SPDX-License-Identifier: MIT
// Reads stdout and stderr of a program and forwards them to stderr with a mark, so that the reader can
// assign them to the program. Neither side is ever waited for: what cannot be passed on yet is
// not read either. Linux only.
#pragma once

#include "base/process/posix_spawn.hpp"

#include <poll.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

// `stream` is 1 or 2; no bytes: it has ended. What comes back is written in portions of 4096 bytes, which a
// pipe takes as one: texts whose length divides that arrive whole.
using RelayMark = std::function<std::string(int stream, std::string_view bytes)>;

class OutputRelay {
 public:
  // The program's stdout is a terminal if ours is one: it decides by that how it buffers. With `only_err` the
  // program keeps our stdout.
  explicit OutputRelay(RelayMark mark, bool only_err = false);
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  // For the program, or -1 for our own; closed here once it has them.
  int out_end() const { return out_.end.get(); }
  int err_end() const { return err_.end.get(); }
  void close_ends();

  // Returns how long poll may wait at most, in ms; -1 for as long as it likes.
  int add_polls(std::vector<pollfd>& polls) const;
  // Reads and writes what can be without waiting, but not forever.
  void forward_some();
  // All that has been written so far. Waits while somebody may read it: until our stderr has no reader, or
  // 2 s after `alive` was closed at its other end.
  void finish(const Fd& alive);

 private:
  struct Source {
    Fd fd;   // non-blocking
    Fd end;  // the program's
    int stream;
    bool end_reported = false;
  };

  bool read_some();
  bool write_some();
  int unread() const;
  bool must_hold_back() const;
  int rest_ms() const;
  void close_streams();

  RelayMark mark_;
  Source out_, err_;
  std::string waiting_;  // marked, not yet written
  std::size_t written_ = 0;
  int capacity_ = 0;  // of the pipe that our stderr is, where it could be made large
  bool ending_ = false;
  bool little_read_ = false;  // the last time
  std::chrono::steady_clock::time_point last_read_;
};

}  // namespace ddlrun
