// SPDX-License-Identifier: MIT
// Contexts that still live when the program calls exit(): no destructor runs, and where the launcher does not
// end the other ranks (MPICH over several hosts) they would wait for this one until their deadline.
#pragma once

#include <functional>

namespace ddl {

// While it lives, exit() of this process calls `at_exit`, which must not throw. A forked child does not.
class LiveContext {
 public:
  explicit LiveContext(std::function<void()> at_exit);
  ~LiveContext();
  LiveContext(const LiveContext&) = delete;
  LiveContext& operator=(const LiveContext&) = delete;

 private:
  friend void leave_all_contexts();
  std::function<void()> at_exit_;
  int process_;
};

}  // namespace ddl
