// SPDX-License-Identifier: MIT
// For programs that make MPI calls of their own beside libddl: which rank is missing when such a call waits
// long. Of ranks on this host the system reports whether their process runs; a rank of another host is asked
// whom it waits for, and so on, down to the one that does not respond.
#pragma once

#include "ddl/error.hpp"

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

namespace ddl {

class MpiLiveness {
 public:
  // Collective over `group`, which must outlive it. Throws nothing.
  explicit MpiLiveness(MPI_Comm group);
  ~MpiLiveness();
  MpiLiveness(const MpiLiveness&) = delete;
  MpiLiveness& operator=(const MpiLiveness&) = delete;

  // Local. `rank`: 0 to the group's size - 1.
  std::string name_of(int rank) const;  // "rank 3 (h2)"
  std::string own_name() const;
  bool is_local(int rank) const;         // its process is visible from here
  bool has_exited(int rank) const;       // false for ranks that are not local
  std::string state_of(int rank) const;  // "process 4711 is stopped"; "" for ranks that are not local

  // To be called again and again while this rank waits for all of `ranks`, the most suspect one first: answers
  // ranks that ask. Throws the Error with which another rank has given up.
  void poll(std::span<const int> ranks);

  struct Unresponsive {
    int rank = -1;          // that does not respond
    bool deadlock = false;  // all respond: each waits for the next
    std::string name;       // "rank 1 (h2)"
    std::string chain;      // "rank 3 (h4) waits for rank 1 (h2), which does not respond"
  };
  // Follows the chain from `rank`, for which this rank waits; blocks up to 1.5 s for each rank that does not
  // respond. Throws as poll().
  Unresponsive find_unresponsive(int rank);

  // Sends the reason to the other ranks before this rank gives up, so that they do not report it as lost.
  void report_failure(const Error& error) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ddl
