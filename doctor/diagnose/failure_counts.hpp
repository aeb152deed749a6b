// SPDX-License-Identifier: MIT
// Lines with a word such as "error" or "failed" that report no failure: a count of zero, a test that passed,
// the size of a numerical error, the head of a table.
#pragma once

#include <string_view>

namespace ddlrun::diagnose {

// "0 tests failed", "failed steps: 0", "errors=0": each such word has the count 0.
bool counts_no_failure(std::string_view text);

// "ok 12 - handles segmentation fault" (TAP), "test_abort ... ok" (unittest), "a.py::test_abort PASSED"
// (pytest).
bool is_passed_test(std::string_view text);

// "=== 3 passed in 0.02s ===" of pytest: how many tests passed and failed, in any order; and whether none
// failed.
bool is_test_summary(std::string_view text);
bool is_passed_summary(std::string_view text);

// "Timeout set to 3600 s", "signal handler installed for SIGTERM": what the program will do, and no failure.
bool states_setting(std::string_view text);

// "# size  count  time  busbw  error": five names of columns or more, between blanks.
bool is_table_header(std::string_view text);

// "rms error 1", "relative error: 3e-4", "top1 error rate 50 %".
bool is_error_quantity(std::string_view text);

}  // namespace ddlrun::diagnose
