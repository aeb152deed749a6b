// SPDX-License-Identifier: MIT
// Parcels between threads of one process: for tests of what runs over MPI otherwise.
#pragma once

#include "runtime/parameter_server/ps_transport.hpp"

#include <memory>

namespace ddlrun::runtime {

class ThreadPost {
 public:
  explicit ThreadPost(int size);
  ~ThreadPost();
  ThreadPost(const ThreadPost&) = delete;
  ThreadPost& operator=(const ThreadPost&) = delete;

  std::unique_ptr<Parcels> join(int rank);
  // Wakes all who wait; they throw.
  void close();

 private:
  struct Boxes;
  class Member;
  std::unique_ptr<Boxes> boxes_;
};

}  // namespace ddlrun::runtime
