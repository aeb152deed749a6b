// SPDX-License-Identifier: MIT
#include "launch/ssh/line_buffer.hpp"

#include <utility>

namespace ddlrun::launch {

namespace {

// Behind the last byte that ends a line; 0 if none does. A carriage return that is the last byte of all may
// still become "\r\n".
std::size_t end_of_lines(std::string_view text) {
  const std::size_t newline = text.rfind('\n');
  const std::size_t after = newline == std::string_view::npos ? 0 : newline + 1;
  if (text.size() < 2) return after;
  const std::size_t back = text.rfind('\r', text.size() - 2);
  return back == std::string_view::npos || back < after ? after : back + 1;
}

}  // namespace

std::string LineBuffer::take(std::string_view bytes) {
  rest_ += bytes;
  const std::size_t end = end_of_lines(rest_);
  if (end == 0 && rest_.size() >= longest) return take_rest();
  std::string lines = rest_.substr(0, end);
  rest_.erase(0, end);
  return lines;
}

std::string LineBuffer::take_rest() { return std::exchange(rest_, {}); }

}  // namespace ddlrun::launch
