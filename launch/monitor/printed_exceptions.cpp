// SPDX-License-Identifier: MIT
#include "launch/monitor/printed_exceptions.hpp"

#include "base/text/text.hpp"

namespace ddlrun::launch {

namespace {

// An exception that ends a program is the last that it prints, but for the rest of its message and for
// remarks of libraries.
constexpr int most_lines_behind = 10;
constexpr std::size_t most_headline_bytes = 160;

// PyTorch prints "[rank1]: " before each line of an exception.
std::string_view without_rank(std::string_view line) {
  const std::size_t end = line.find("]: ");
  return line.starts_with("[rank") && end != std::string_view::npos ? line.substr(end + 3) : line;
}

}  // namespace

void PrintedExceptions::take(std::uint32_t rank, std::string_view line) {
  line = without_rank(line);
  const bool is_indented = line.starts_with(' ') || line.starts_with('\t');
  const std::string_view text = trim(line);
  if (text.empty()) return;
  if (text.starts_with("Traceback (most recent call last)")) {
    Rank& state = ranks_[rank];
    state = Rank{state.is_ignored, true};
    return;
  }
  const bool is_ignored = starts_with_any(text, {"Exception ignored in", "--- Logging error ---"});
  if (is_ignored) ranks_[rank].is_ignored = true;
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  Rank& state = found->second;
  if (!state.is_open) {
    if (++state.lines_behind > most_lines_behind) state.headline.clear();
  } else if (!is_indented) {
    state = Rank{false, false, 0, state.is_ignored ? "" : printable(text, most_headline_bytes)};
  }
}

std::string PrintedExceptions::of(std::uint32_t rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? "" : found->second.headline;
}

}  // namespace ddlrun::launch
