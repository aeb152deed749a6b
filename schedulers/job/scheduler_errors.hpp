// SPDX-License-Identifier: MIT
// What a scheduler's command says when it does not do what was asked, and what that means for people: tables
// of words and exit statuses with a remedy each.
#pragma once

#include "base/os/system.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::schedulers {

struct KnownError {
  int exit_status = 0;     // 0: any
  std::string_view words;  // must occur in what was said; "": any
  std::string_view meaning;
  std::string_view remedy;   // something to type
  bool unreachable = false;  // nobody answered: no refusal
};

// What it said in one line, without "sbatch: error: " before each.
std::string reported_text(const ProcessResult& answer);

// The first row that fits, or nullptr.
const KnownError* find_known_error(std::span<const KnownError> table, const ProcessResult& answer);

// Error{request} where `tool` could not be started, Error{unreachable} where it did not answer in time or the
// row says so, else Error{scheduler} with its own words.
[[noreturn]] void throw_scheduler_error(std::string_view tool, const ProcessResult& answer,
                                        std::span<const KnownError> table);

}  // namespace ddlrun::schedulers
