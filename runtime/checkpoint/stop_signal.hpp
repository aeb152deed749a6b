// SPDX-License-Identifier: MIT
// Turns USR1, TERM and INT (Ctrl-C) into a request to save and stop. The handler only sets a flag.
#pragma once

#include <string>

namespace ddlrun::runtime {

// While an object exists, USR1 and the first TERM or INT only set a flag; a second TERM or INT ends the
// process as usual. At most one object per process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool wanted();
  // "USR1", "TERM", "INT", or "another rank's signal" if this rank received none.
  static std::string name();
};

}  // namespace ddlrun::runtime
