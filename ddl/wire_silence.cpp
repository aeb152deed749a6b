// SPDX-License-Identifier: MIT
#include "ddl/wire_silence.hpp"

#include <fmt/format.h>

namespace ddl {

Error late_error(const AwaitedRank& awaited, double timeout_seconds, RollCall* roll) {
  std::string what = fmt::format("{} has {} nothing for {:g} s", awaited.name,
                                 awaited.takes ? "taken" : "sent", timeout_seconds);
  std::string where = awaited.name;
  if (roll != nullptr) {
    const RollCall::Silence silence = roll->find_silent(awaited.rank);
    what += ": " + silence.told;
    if (!silence.circle) where = silence.name;
  }
  return {Fault::lost, what, where,
          "see whether it still runs and what it last said; a longer Options::timeout_seconds"};
}

Stall late_stall(const AwaitedRank& awaited, RollCall* roll) {
  Stall stall;
  if (roll != nullptr) {
    const RollCall::Silence silence = roll->find_silent(awaited.rank);
    stall.missing.push_back(silence.circle ? awaited.name : silence.name);
    stall.seen = silence.told;
    return stall;
  }
  stall.missing.push_back(awaited.name);
  stall.seen =
      awaited.takes ? "it takes nothing" : "it sends nothing; it may itself wait for a rank of its host";
  return stall;
}

}  // namespace ddl
