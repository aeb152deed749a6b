// SPDX-License-Identifier: MIT
// The ranks of one host: memory that all of them see. Made with MPI's shared windows (mpi_host_group) or, in
// tests, by threads of one process (thread_ranks).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ddl {

// Equal parts, one for each local rank, all mapped here, zeroed; each begins at the first page_bytes after
// the one before. Freed with the last copy: that is collective over the host's ranks, in the same order on
// all of them.
class SharedBuffer {
 public:
  virtual ~SharedBuffer() = default;
  virtual std::span<std::byte> part(int local_rank) const = 0;
};

class NodeComm {
 public:
  virtual ~NodeComm() = default;

  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  // Collective: `bytes` for each local rank, the same number on all of them.
  virtual std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) = 0;
  // False once the rank's process is gone; asked only while something waits for it.
  virtual bool alive(int local_rank) const = 0;
  // "process 4711 is stopped"; empty where there is nothing to say.
  virtual std::string state_of(int local_rank) const {
    static_cast<void>(local_rank);
    return "";
  }
  // "rank 3 (h2)": the rank in the whole job, for messages.
  virtual std::string name_of(int local_rank) const = 0;
  // After an error: ranks may be missing, so freeing blocks must no longer wait for them.
  virtual void abandon() {}
};

}  // namespace ddl
