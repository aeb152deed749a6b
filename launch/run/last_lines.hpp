// SPDX-License-Identifier: MIT
// The last lines of stderr, of the whole job and of each rank.
#pragma once

#include "launch/monitor/printed_exceptions.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

class LastLines {
 public:
  void take(std::string_view line);
  void take_of(std::uint32_t rank, std::string_view line);

  bool empty() const { return lines_.empty(); }
  std::vector<std::string> lines() const { return {lines_.begin(), lines_.end()}; }
  std::vector<std::string> lines_of(std::uint32_t rank) const;
  // "" where the rank printed none last.
  std::string exception_of(std::uint32_t rank) const { return exceptions_.of(rank); }

 private:
  std::deque<std::string> lines_;
  std::map<std::uint32_t, std::deque<std::string>> of_rank_;
  PrintedExceptions exceptions_;
};

}  // namespace ddlrun::launch
