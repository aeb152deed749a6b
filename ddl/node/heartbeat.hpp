// SPDX-License-Identifier: MIT
// Ranks of a host that wait for something else than each other, a sum by NCCL: who of them still lives. Each
// shows in shared memory in which call it waits and when it last looked.
#pragma once

#include "ddl/node/node_comm.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

class Heartbeat {
 public:
  // Collective, as the destructor. The group outlives it.
  explicit Heartbeat(NodeComm& group);

  // This rank waits in call `number`, which all have begun; it still does; what it adds is there; it is done.
  void begin(std::uint64_t number);
  void beat();
  void ready();
  void end();

  // Of the others: processes that are gone; and those in the call of this rank that have not looked for a
  // second.
  struct Unresponsive {
    int local_rank = -1;
    std::string name;   // "rank 1 (h2)"
    std::string state;  // "has ended", "does not answer"
    std::string more;   // "process 4711 is stopped"; may be empty
  };
  std::vector<Unresponsive> find_dead() const;
  std::vector<Unresponsive> find_unresponsive() const;
  // And those that answer, but have nothing to add yet.
  std::vector<Unresponsive> find_unready() const;

 private:
  struct Shared;
  Shared& of(int local_rank) const;

  NodeComm& group_;
  std::shared_ptr<SharedBuffer> block_;
  std::uint64_t number_ = 0;
};

}  // namespace ddl
