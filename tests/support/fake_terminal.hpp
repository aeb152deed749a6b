// SPDX-License-Identifier: MIT
// A terminal whose user the test writes: an event for each wait, and all pictures are kept.
#pragma once

#include "base/os/terminal.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ddlrun::tests {

struct FakeTerminal : Terminal {
  TerminalSize now{80, 24};
  bool capable = true, is_open = false;
  int opened = 0;
  std::vector<std::vector<std::string>> pictures;
  std::function<TerminalEvent(std::chrono::milliseconds)> next = [](std::chrono::milliseconds) {
    return TerminalEvent{"q", 0, false};
  };

  bool open() override {
    is_open = capable;
    opened += capable ? 1 : 0;
    return capable;
  }
  void close() noexcept override { is_open = false; }
  TerminalSize size() override { return now; }
  void draw(const std::vector<std::string>& lines) override { pictures.push_back(lines); }
  TerminalEvent wait(std::chrono::milliseconds duration) override { return next(duration); }
};

}  // namespace ddlrun::tests
