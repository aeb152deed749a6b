// SPDX-License-Identifier: MIT
// What a Context stands on: who the ranks are and how they meet. Made with MPI (mpi_ranks), by threads of one
// process for tests (thread_ranks), or for one rank alone (below).
#pragma once

#include "ddl/data_type.hpp"
#include "ddl/host_group.hpp"
#include "ddl/levels.hpp"
#include "ddl/roll_call.hpp"
#include "ddl/wire.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ddl {

class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // One text from each rank, by rank, on all ranks; the first call of all is the host's name. Collective.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  virtual std::string host_name() const = 0;

  // Collective. The Ranks outlive what they make.
  virtual std::unique_ptr<HostGroup> make_host_group(const Grid& grid) = 0;
  virtual std::vector<std::unique_ptr<Wire>> make_wires(const Grid& grid, double timeout_seconds) = 0;
  // One wire of all ranks, whatever their hosts.
  virtual std::unique_ptr<Wire> make_flat_wire(const Grid& grid, double timeout_seconds) = 0;

  // Null where ranks cannot write to each other beside the wires. Collective.
  virtual std::unique_ptr<NoteBox> make_notes() { return nullptr; }

  // The library's own sum (MPI_Allreduce), out of place. False: there is none for this type and operation.
  virtual bool plain_all_reduce(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                                Operation operation) = 0;
  // After an error nothing may wait for the other ranks any more, not even to free what is shared.
  virtual void abandon() noexcept {}
};

// One rank, alone.
std::unique_ptr<Ranks> make_single_rank();

}  // namespace ddl
