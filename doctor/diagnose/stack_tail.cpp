// SPDX-License-Identifier: MIT
#include "doctor/diagnose/stack_tail.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/native_stack.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

constexpr int lines_before_stack = 12;  // between an error and the first line of its stack
constexpr int lines_between = 4;        // other lines within a stack
constexpr int most_stacks = 4096;       // followed: a log may repeat one error a million times

// "[12] name"
bool is_numbered_frame(std::string_view text) {
  const std::size_t end = text.find(']');
  return text.starts_with('[') && end != npos && end > 1 && end < 6 &&
         std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// "main.nf:12", "Thread.java:829)"
bool has_line_number(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != npos && colon + 1 < text.size() && text[colon + 1] >= '0' && text[colon + 1] <= '9';
}

}  // namespace

bool is_stack_line(std::string_view text) {
  if (text.starts_with("@ ")) return has_line_number(text) || text.ends_with("[inlined]");
  if (text.starts_with("at ")) return has_line_number(text) || text.ends_with(')');
  if (text.starts_with("... ") && text.ends_with(" more")) return true;
  if (starts_with_any(text, {"in expression starting at ", "goroutine ", "Caused by: "})) return true;
  if (has_any(text, {".java:", ".groovy:", ".scala:"}) && text.ends_with(')')) return true;
  if (has_any(text, {"├─", "└─"})) return true;
  return parse_stack_frame(text).has_value();
}

void StackTail::begin() {
  if (++begun_ > most_stacks) return;
  lines_left_ = std::max(lines_left_, lines_before_stack);
  is_numbered_ = false;
}

bool StackTail::take(const ReadLine& line) {
  const std::string_view text = trim(line.prefix.text), raw = trim(line.raw);
  is_numbered_ = is_numbered_ || text.starts_with("Stacktrace:");
  const bool belongs = is_stack_line(text) || (is_numbered_ && is_numbered_frame(raw));
  --lines_left_;
  if (!belongs) return false;
  last_ = line.sequence;
  lines_left_ = lines_between;
  return true;
}

}  // namespace ddlrun::diagnose
