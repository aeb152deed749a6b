// SPDX-License-Identifier: MIT
// What the end of a log without an exit status shows: does the run continue after the last line that looks
// bad, or is such a line the last?
#pragma once

#include "doctor/diagnose/conclusion.hpp"

#include <string_view>

namespace ddlrun::diagnose {

// Ordinary output follows the last line that looks bad: the program runs without what that line reports.
// False for several logs, whose order is not known.
bool run_continues(const LogFacts& log);

// It continues, and its last lines are results, or have a word such as "done" or "accuracy".
bool run_completes(const LogFacts& log);

// The only bad line goes on with what is done instead ("cannot read the cache, rebuilding"), or the next
// lines report it, and the last line reports completion; or the log ends with the verdict of tests that
// passed.
bool run_recovers(const LogFacts& log);

// At the end of a log a line with this score most likely shows the failure.
constexpr int min_end_score = 55;

// Many lines follow the last line that looks bad, more after a fatal one, whatever they are.
bool run_survives(const LogFacts& log);

// The class of a log that ends with a wait, and whether its last line is one, by the patterns of that class.
constexpr std::string_view wait_id = "L23";
bool is_wait(const LogFacts& log, std::string_view line);
bool ends_waiting(const LogFacts& log);

// Such a line is among the last ones, and no ordinary output follows it.
bool ends_in_trouble(const LogFacts& log);

}  // namespace ddlrun::diagnose
