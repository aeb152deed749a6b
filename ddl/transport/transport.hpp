// SPDX-License-Identifier: MIT
// Transport connects the ranks of a job and makes their communicators: NodeComm (shared memory of one node),
// a PeerComm for each level of the dims, a PeerComm of all ranks, and an OobChannel for control messages.
// Implementations: mpi/ (MPI), tcp/ (sockets, without MPI), thread/ (threads of one process, for tests),
// single_process (one rank).
//
// A Transport outlives what it makes. All make_*() are collective. After abandon() no destructor waits for
// other ranks. Threads: one at a time, as the Collectives above it.
#pragma once

#include "ddl/core/grid.hpp"
#include "ddl/core/liveness_inspector.hpp"
#include "ddl/core/rank_group.hpp"
#include "ddl/data_type.hpp"
#include "ddl/node/node_comm.hpp"
#include "ddl/transport/message_wire.hpp"
#include "ddl/transport/peer_comm.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // One text from each rank, by rank, on all ranks; the first call of all is the host's name. Collective.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  virtual std::string host_name() const = 0;

  // Collective. A Transport outlives what it makes.
  virtual std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) = 0;
  virtual std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid& grid,
                                                                  double timeout_seconds) = 0;
  // One wire of all ranks, whatever their hosts.
  virtual std::unique_ptr<PeerComm> make_global_comm(const Grid& grid, double timeout_seconds) = 0;

  // From here on this rank has used no channel; ranks that split agree on the largest. 0 where there are
  // none.
  virtual std::uint32_t next_channel() const { return 0; }
  // The ranks of `plan`; null where it has none. This Transport outlives them. Collective, also over ranks
  // that are in no group.
  virtual std::unique_ptr<Transport> split(const SplitPlan& plan) = 0;

  // Null where ranks cannot write to each other beside the wires. Collective.
  virtual std::unique_ptr<OobChannel> make_oob_channel() { return nullptr; }

  // Null where there is none. Collective.
  virtual std::unique_ptr<MessageWire> make_message_wire() { return nullptr; }

  // The library's own sum (MPI_Allreduce), out of place. False: there is none for this type and operation.
  virtual bool native_all_reduce(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                                 Operation operation) = 0;
  // Whether the library takes calls of one thread at a time only, whatever Transport they are of.
  virtual bool takes_one_thread() const { return false; }
  // After an error nothing may wait for the other ranks any more, not even to free what is shared.
  virtual void abandon() noexcept {}
  // Ends all ranks with this exit status, where their launcher can; else it returns.
  virtual void abort(int status) noexcept { static_cast<void>(status); }
};

// One rank, alone.
std::unique_ptr<Transport> make_single_process_transport();

}  // namespace ddl
