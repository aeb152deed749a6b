// SPDX-License-Identifier: MIT
// What is told of a rank that a wire waits for in vain: by name alone, or, with a roll call, down to the one
// that answers nobody.
#pragma once

#include "ddl/roll_call.hpp"
#include "ddl/stall.hpp"

#include <string>

namespace ddl {

struct AwaitedRank {
  std::string name;    // "rank 3 (h2)"
  int rank = 0;        // in the whole job
  bool takes = false;  // it has something to take; else something to send
};

// `roll` may be null. The timeout is over.
Error late_error(const AwaitedRank& awaited, double timeout_seconds, RollCall* roll);
// It is not, but long enough to be told.
Stall late_stall(const AwaitedRank& awaited, RollCall* roll);

}  // namespace ddl
