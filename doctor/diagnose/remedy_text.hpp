// SPDX-License-Identifier: MIT
// The parts of a remedy: "a; b   # why". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

inline constexpr std::string_view comment_mark = "   # ";  // behind the commands

struct RemedyParts {
  std::string commands;  // "a; b"
  std::string comment;   // "   # why", or ""
};
RemedyParts split_remedy(const std::string& remedy);

// "a; b" -> {"a", "b"}. A loop or quoted text is one command.
std::vector<std::string> split_commands(std::string_view commands);

bool has_quotes(std::string_view command);

std::string replace_text(std::string text, std::string_view old, std::string_view by);

}  // namespace ddlrun::diagnose
