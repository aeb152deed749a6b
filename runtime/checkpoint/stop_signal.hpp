// SPDX-License-Identifier: MIT
// USR1, TERM and INT (Ctrl-C) as a wish to save and stop, noted by a handler that does nothing else.
#pragma once

#include <string>

namespace ddlrun::runtime {

// While one exists, USR1 and the first TERM or INT are only noted; a second one ends the process at once, as
// ever.
// One at a time in a process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool wanted();
  // "USR1", "TERM", "INT", or "another rank's signal" if none came here.
  static std::string name();
};

}  // namespace ddlrun::runtime
