// SPDX-License-Identifier: MIT
// How long a job printed nothing before the scheduler ended it: a job that hangs reaches any time limit.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// The end of a job at its time limit.
struct StillEnd {
  std::int64_t silent_seconds = 0;  // without output before it; 0 where that is unknown or ordinary
  LogLine last;                     // the last line before it
};

// A line that a scheduler writes into the log of a job.
bool is_of_scheduler(std::string_view text);

// The first time stamp in a line, also behind its level ("INFO 2024-05-01 10:02:03").
std::optional<std::int64_t> seconds_in(std::string_view line);

// `before`: the lines before the one that reports the limit. The seconds between the last of them and
// `limit`, where that is far longer than any time between two of them; nothing where the last line has no
// time stamp.
std::optional<std::int64_t> output_gap(std::string_view before, std::int64_t limit);

// "11 h 57 min"
std::string render_hours(std::int64_t seconds);

}  // namespace ddlrun::diagnose
