// SPDX-License-Identifier: MIT
#include "launch/run/last_lines.hpp"

#include "base/text/text.hpp"

#include <cstddef>

namespace ddlrun::launch {

namespace {

void push_line(std::deque<std::string>& lines, std::string_view line, std::size_t most) {
  if (lines.size() == most) lines.pop_front();
  lines.emplace_back(trim(line));
}

}  // namespace

void LastLines::take(std::string_view line) {
  constexpr std::size_t most_lines = 40, most_bytes = 1000;
  push_line(lines_, line.substr(0, most_bytes), most_lines);
}

void LastLines::take_of(std::uint32_t rank, std::string_view line) {
  constexpr std::size_t most_lines = 10, most_bytes = 400;  // of each of many ranks
  exceptions_.take(rank, line);
  if (!trim(line).empty()) push_line(of_rank_[rank], line.substr(0, most_bytes), most_lines);
}

std::vector<std::string> LastLines::lines_of(std::uint32_t rank) const {
  const auto found = of_rank_.find(rank);
  if (found == of_rank_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace ddlrun::launch
