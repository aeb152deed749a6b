// SPDX-License-Identifier: MIT
// Splits a log into episodes of trouble: bad lines with few ordinary ones between them. A run that goes on
// for long after an error survived it; the failure that ended it is in a later episode.
#pragma once

#include <cstdint>
#include <deque>

namespace ddlrun::diagnose {

class Episodes {
 public:
  // A line that belongs to a message, or looks like an error. One that is not behind all others is ignored:
  // a line that began a message is judged again when the message turns out to be none.
  void take(std::uint64_t sequence);

  // The banner of a program that starts: a new run in the same log.
  void take_start(std::uint64_t sequence);

  // The number of the first line of the episode that contains the line; 0 for one before the first.
  std::uint64_t start_of(std::uint64_t sequence) const;
  // The first line of the last episode; 0 for none.
  std::uint64_t last_start() const { return starts_.empty() ? 0 : starts_.back(); }

 private:
  std::deque<std::uint64_t> starts_;
  std::uint64_t last_ = 0;
  bool is_new_run_ = false;
};

}  // namespace ddlrun::diagnose
