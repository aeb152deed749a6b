// SPDX-License-Identifier: MIT
// Which ranks printed an exception of Python last: one that has not ended may keep the others waiting. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ddlrun::launch {

class PrintedExceptions {
 public:
  // A line that the rank printed on stderr.
  void take(std::uint32_t rank, std::string_view line);
  // "RuntimeError: shape mismatch"; "" where the rank printed none, or went on after it.
  std::string of(std::uint32_t rank) const;

 private:
  struct Rank {
    bool is_ignored = false;    // Python only reports the next traceback
    bool is_open = false;       // within a traceback
    int lines_behind = 0;       // the exception
    std::string headline = {};  // "" for none
  };
  std::map<std::uint32_t, Rank> ranks_;
};

}  // namespace ddlrun::launch
