// SPDX-License-Identifier: MIT
// Words of log lines that look bad, each with a score: how likely its line explains a failure, 0 to 100.
#pragma once

#include <span>
#include <string_view>

namespace ddlrun::diagnose {

struct ErrorKeyword {
  std::string_view text;  // at least 6 bytes
  int score;
};
std::span<const ErrorKeyword> error_keywords();

}  // namespace ddlrun::diagnose
