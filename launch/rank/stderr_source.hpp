// SPDX-License-Identifier: MIT
// Which rank wrote a line on stderr: the ssh launcher marks each line for `launch`, which cuts the marks out.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

// "ddlrun-err token=T rank=3;" before each line.
std::string mark_stderr_lines(std::string_view token, std::uint32_t rank, std::string_view lines);

struct MarkedStderr {
  std::optional<std::uint32_t> rank;  // of the first mark
  std::string rest;                   // the line without marks, byte for byte
};
MarkedStderr cut_stderr_marks(std::string_view line, std::string_view token);

}  // namespace ddlrun::launch
