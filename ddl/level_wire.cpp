// SPDX-License-Identifier: MIT
#include "ddl/level_wire.hpp"

#include <fmt/format.h>

namespace ddl {

Error LevelWire::late(int peer, bool is_send) const {
  std::string where = name_of(peer);
  std::string what =
      fmt::format("{} has {} nothing for {:g} s", where, is_send ? "taken" : "sent", timeout_seconds_);
  if (roll_ != nullptr) {
    const RollCall::Silence silence = roll_->find_silent(job_rank(peer));
    what += ": " + silence.told;
    if (!silence.circle) where = silence.name;
  }
  return {Fault::lost, what, where,
          "see whether it still runs and what it last said; a longer Options::timeout_seconds"};
}

Stall LevelWire::stall_of(int peer, bool is_send) const {
  Stall stall;
  if (roll_ != nullptr) {
    const RollCall::Silence silence = roll_->find_silent(job_rank(peer));
    stall.missing.push_back(silence.circle ? name_of(peer) : silence.name);
    stall.seen = silence.told;
    return stall;
  }
  stall.missing.push_back(name_of(peer));
  stall.seen = is_send ? "it takes nothing" : "it sends nothing; it may itself wait for a rank of its host";
  return stall;
}

Error LevelWire::mismatch(int peer, const std::string& did, std::size_t expected_bytes) const {
  return {Fault::mismatch,
          fmt::format("{} {} for another call, {} were expected for {}", name_of(peer), did, expected_bytes,
                      call_ ? call_() : "this one"),
          name_of(peer), "all ranks make the same calls with the same counts in the same order"};
}

}  // namespace ddl
