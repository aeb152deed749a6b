// SPDX-License-Identifier: MIT
// Prints a text if a call takes long that cannot be given a deadline, such as MPI_Init.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace ddl {

class DelayedNote {
 public:
  // Unless it is destroyed within `delay`.
  DelayedNote(std::string text, std::chrono::milliseconds delay, std::FILE* to = stderr);
  ~DelayedNote();
  DelayedNote(const DelayedNote&) = delete;
  DelayedNote& operator=(const DelayedNote&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread waits_;
};

}  // namespace ddl
