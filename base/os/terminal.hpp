// SPDX-License-Identifier: MIT
// The interface to a terminal as one screen: a picture that is drawn again, keys without Enter, its size.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace ddlrun {

struct TerminalSize {
  int columns = 80, rows = 24;

  bool operator==(const TerminalSize&) const = default;
};

// What ended a wait: the time, if all are empty.
struct TerminalEvent {
  std::string keys;      // as they came; those with names, such as arrows, are left out
  int signal = 0;        // INT, TERM, HUP or QUIT: the terminal has its own screen again
  bool changed = false;  // another size, or we were suspended: the picture must be drawn again
};

class Terminal {
 public:
  virtual ~Terminal() = default;
  // Takes the whole screen. False where stdin or stdout is no terminal, or TERM names one that cannot do it.
  virtual bool open() = 0;
  // Restores what was there before open(); no error where it is closed.
  virtual void close() noexcept = 0;
  virtual TerminalSize size() = 0;
  // In place of what is there. Each line is at most as wide as the terminal, and has no control characters
  // but SGR colours.
  virtual void draw(const std::vector<std::string>& lines) = 0;
  virtual TerminalEvent wait(std::chrono::milliseconds duration) = 0;
};

}  // namespace ddlrun
