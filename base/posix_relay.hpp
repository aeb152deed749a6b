// SPDX-License-Identifier: MIT
// What a program says on stdout and stderr, taken by us and passed on to our own stderr with a mark, so that
// whoever reads that can tell whose it is. Neither side is ever waited for: what cannot be passed on yet is
// not read either. Linux only.
#pragma once

#include "base/posix_spawn.hpp"

#include <poll.h>

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
  // The program's stdout is a terminal if ours is one: it decides by that how it buffers.
  explicit OutputRelay(RelayMark mark);
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

  // For the program; closed here once it has them.
  int out_end() const { return out_.end.get(); }
  int err_end() const { return err_.end.get(); }
  void close_ends();

  void add_polls(std::vector<pollfd>& polls) const;
  // Reads and writes what can be without waiting, but not for ever.
  void serve();
  // All that has been written so far. Waits while somebody may read it: until our stderr has no reader, or
  // 2 s after `alive` was closed at its other end.
  void finish(const Fd& alive);

 private:
  struct Source {
    Fd fd;   // non-blocking
    Fd end;  // the program's
    int stream;
    bool told_end = false;
  };

  bool read_some();
  bool write_some();
  void give_up();

  RelayMark mark_;
  Source out_, err_;
  std::string waiting_;  // marked, not yet written
  std::size_t written_ = 0;
};

}  // namespace ddlrun
