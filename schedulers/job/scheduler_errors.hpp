// SPDX-License-Identifier: MIT
// Messages of a scheduler's command that failed, and their meanings for people: tables
// of words and exit statuses with a remedy each.
#pragma once

#include "base/os/system.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

struct KnownError {
  int exit_status = 0;     // 0: any
  std::string_view words;  // must occur in the output; "": any
  std::string_view meaning;
  std::string_view remedy;   // something to type
  bool unreachable = false;  // no answer: not a refusal
};

// Its output in one line, without "sbatch: error: " before each.
std::string reported_text(const ProcessResult& answer);

// The first row that fits, or nullptr.
const KnownError* find_known_error(std::span<const KnownError> table, const ProcessResult& answer);

// Error{request} where `tool` could not be started, Error{unreachable} where it did not answer in time or the
// row states it, else Error{scheduler} with its own words.
[[noreturn]] void throw_scheduler_error(std::string_view tool, const ProcessResult& answer,
                                        std::span<const KnownError> table);

}  // namespace ddlrun::schedulers
