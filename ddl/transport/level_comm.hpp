// SPDX-License-Identifier: MIT
// What all communicators of a level share, whatever carries their messages: their ranks, and the report of a
// rank that does not arrive: by its name, or, with a LivenessInspector, of the rank that it waits for in
// turn.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/core/liveness_inspector.hpp"
#include "ddl/transport/peer_comm.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddl {

class LevelComm : public PeerComm {
 public:
  int rank() const override { return level_.me; }
  int size() const override { return static_cast<int>(level_.ranks.size()); }
  void call_id(std::uint32_t call) override { call_id_ = call; }
  void set_stall_watch(StallWatch watch) override { watch_ = std::move(watch); }
  void set_call_namer(std::function<std::string()> name) override { call_ = std::move(name); }
  void set_inspector(LivenessInspector* inspector) override { inspector_ = inspector; }
  std::string name_of(int rank) const override { return names_[static_cast<std::size_t>(rank)]; }

 protected:
  // `level`: of a place in `grid`.
  LevelComm(const Grid& grid, Level level, double timeout_seconds);

  int job_rank(int peer) const { return level_.ranks[static_cast<std::size_t>(peer)]; }
  // The timeout is over for a message to `peer` (is_send) or from it.
  Error late(int peer, bool is_send) const;
  // Not lost, but late enough for a report.
  Stall stall_of(int peer, bool is_send) const;
  // A message of `peer` does not belong to this rank's call.
  Error mismatch(int peer) const;

  Level level_;                     // its ranks are those of the first Context
  std::vector<std::string> names_;  // of its ranks, "rank 3 (h2)"
  double timeout_seconds_;
  std::uint32_t call_id_ = 0;
  StallWatch watch_;
  std::function<std::string()> call_;
  LivenessInspector* inspector_ = nullptr;
  std::optional<Error> broken_;  // after it nothing is sent any more
};

}  // namespace ddl
