// SPDX-License-Identifier: MIT
#include "doctor/diagnose/launch_end.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/line_pattern.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

bool is_launch_end(const SignatureSet& set, std::string_view line) {
  return std::ranges::any_of(set.endings, [line](const Ending& ending) {
    return ending.kind == EndingKind::rank && ending.is_certain &&
           std::ranges::any_of(ending.patterns, [line](const MessagePattern& pattern) {
             return pattern.size() == 1 && match_line(pattern.front(), line);
           });
  });
}

}  // namespace

std::string_view find_launch_end(const SignatureSet& set, std::string_view log) {
  constexpr std::string_view lead = "ddlrun: ";
  std::string_view found;
  for (const std::string_view line : split(log, '\n'))
    if (line.starts_with(lead) && is_launch_end(set, line)) found = trim(line.substr(lead.size()));
  return found;
}

}  // namespace ddlrun::diagnose
