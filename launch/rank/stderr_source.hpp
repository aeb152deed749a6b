// SPDX-License-Identifier: MIT
// Which rank wrote a line on stderr: the ssh launcher marks each line for `launch`, which cuts the marks out.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::launch {

// "ddlrun-err token=T rank=3;" before each line.
std::string mark_stderr_lines(std::string_view token, std::uint32_t rank, std::string_view lines);

struct MarkedStderr {
  std::optional<std::uint32_t> rank;  // of the first mark
  std::string rest;                   // the line without marks, byte for byte
};
MarkedStderr cut_stderr_marks(std::string_view line, std::string_view token);

// Hides the run's tokens in what a host sends, except in reports and frames of the rank that sends them: a
// report of another rank would decide for that rank's host. One filter has all that reaches stderr, in order,
// because two pieces can make up one token.
class ForeignMarkFilter {
 public:
  explicit ForeignMarkFilter(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}
  // As many bytes as were given. `sender`: nothing for what no rank sends.
  std::string clean(std::string_view bytes, std::optional<std::uint32_t> sender);

 private:
  std::vector<std::string> tokens_;
  std::string tail_;  // of what was returned: shorter than a token
};

// Lines with control characters as \xNN, as messages have them; without the \r before a newline.
std::string printable_lines(std::string_view text);
// Its last line that is not empty, cut to fit a message; "" if there is none.
std::string last_printable_line(std::string_view text);

}  // namespace ddlrun::launch
