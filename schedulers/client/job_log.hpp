// SPDX-License-Identifier: MIT
// A log that grows on a file system of others: what is new is read, nothing twice. It may not be there yet,
// may be cut off, and goes on after a requeue.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

class JobLog {
 public:
  explicit JobLog(std::string path) : path_(std::move(path)) {}

  // Gives what was added since the last call to `sink`; returns whether there was any.
  bool take(System& system, const std::function<void(std::string_view bytes)>& sink);
  // What is there already is passed over.
  void skip_to_end(System& system);
  const std::string& path() const { return path_; }
  bool seen() const { return seen_; }
  // The text so far ends with a newline, or there is none.
  bool at_line_start() const { return at_line_start_; }

 private:
  std::string path_;
  std::uint64_t offset_ = 0;
  bool seen_ = false;
  bool unreadable_ = false;  // reported once
  bool at_line_start_ = true;
};

}  // namespace ddlrun::schedulers
