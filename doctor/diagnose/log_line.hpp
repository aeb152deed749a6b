// SPDX-License-Identifier: MIT
// A line on its way through the analysis.
#pragma once

#include "doctor/diagnose/line_prefix.hpp"

#include <cstdint>
#include <string_view>

namespace ddlrun::diagnose {

struct ReadLine {
  std::uint32_t source = 0;    // number of the log
  std::uint64_t line = 0;      // 1-based in that log
  std::uint64_t sequence = 0;  // over all logs
  std::string_view raw;        // without its newline and escapes
  LinePrefix prefix;           // prefix.text is a part of raw
};

}  // namespace ddlrun::diagnose
