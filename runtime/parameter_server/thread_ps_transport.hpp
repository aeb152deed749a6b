// SPDX-License-Identifier: MIT
// PsTransport between threads of one process: for tests of what runs over MPI otherwise.
#pragma once

#include "runtime/parameter_server/ps_transport.hpp"

#include <memory>

namespace ddlrun::runtime {

class ThreadPsNetwork {
 public:
  explicit ThreadPsNetwork(int size);
  ~ThreadPsNetwork();
  ThreadPsNetwork(const ThreadPsNetwork&) = delete;
  ThreadPsNetwork& operator=(const ThreadPsNetwork&) = delete;

  std::unique_ptr<PsTransport> join(int rank);
  // Wakes all waiting members; they throw.
  void close();

 private:
  struct Mailboxes;
  class Member;
  std::unique_ptr<Mailboxes> mailboxes_;
};

}  // namespace ddlrun::runtime
