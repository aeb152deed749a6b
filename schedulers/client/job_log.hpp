// SPDX-License-Identifier: MIT
// A log that grows on a file system of others: what is new is read, nothing twice. It may not be there yet,
// may be cut off, and goes on after a requeue.
#pragma once

#include "base/os/system.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

// Several logs of one job or run, printed as they grow. Output of another log than before stands behind a
// line with its path, unless the log has no title and nothing was printed before it.
class LogPrinter {
 public:
  enum class Title { none, path };
  // A log that is known already stays as it is; "" is none.
  void add(const std::string& path, Title title = Title::path);
  // What is there already is passed over.
  void skip_to_end(System& system);
  // Prints what is new; returns whether there was any.
  bool print_new(System& system);
  // Ends the last line, where it has no end.
  void end_line(System& system) const;
  bool at_line_start() const { return last_ == no_log || logs_[last_].log.at_line_start(); }
  bool any_printed() const { return last_ != no_log; }
  // Some log is there.
  bool seen() const;

 private:
  static constexpr std::size_t no_log = static_cast<std::size_t>(-1);
  struct TitledLog {
    JobLog log;
    Title title;
  };
  std::vector<TitledLog> logs_;
  std::set<std::string> paths_;
  std::size_t last_ = no_log;
};

}  // namespace ddlrun::schedulers
