// SPDX-License-Identifier: MIT
#include "ddl/transport/level_comm.hpp"

#include "ddl/core/call_record.hpp"
#include "ddl/core/core_shortage.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddl {

LevelComm::LevelComm(const Grid& grid, Level level, double timeout_seconds)
    : level_(std::move(level)), timeout_seconds_(timeout_seconds) {
  for (int& rank : level_.ranks) {
    names_.push_back(grid.name_of(rank));
    rank = grid.first_rank_of(rank);
  }
}

Error LevelComm::late(int peer, bool is_send) const {
  std::string where = name_of(peer);
  std::string what = fmt::format("{} has {} nothing for {:g} s in {}", where, is_send ? "taken" : "sent",
                                 timeout_seconds_, call_ ? call_() : "this call");
  if (inspector_ != nullptr) {
    const LivenessInspector::Unresponsive unresponsive = inspector_->find_unresponsive(job_rank(peer));
    what += ": " + unresponsive.chain;
    if (unresponsive.deadlock) return {Fault::lost, what, where, same_calls_hint};
    where = unresponsive.name;
  }
  return {Fault::lost, what, where,
          "check whether the process runs, and read its last output; a longer Options::timeout_seconds" +
              hint_core_shortage()};
}

Stall LevelComm::stall_of(int peer, bool is_send) const {
  Stall stall;
  if (inspector_ != nullptr) {
    const LivenessInspector::Unresponsive unresponsive = inspector_->find_unresponsive(job_rank(peer));
    stall.missing.push_back(unresponsive.deadlock ? name_of(peer) : unresponsive.name);
    stall.seen = unresponsive.chain;
    return stall;
  }
  stall.missing.push_back(name_of(peer));
  stall.seen = is_send ? "it takes nothing" : "it sends nothing; it may itself wait for a rank of its host";
  return stall;
}

Error LevelComm::mismatch(int peer) const {
  if (inspector_ != nullptr) return inspector_->mismatch(job_rank(peer));
  return {Fault::mismatch,
          fmt::format("{} makes another call than {}, which calls {}", name_of(peer), name_of(rank()),
                      call_ ? call_() : "this one"),
          name_of(peer), same_calls_hint};
}

}  // namespace ddl
