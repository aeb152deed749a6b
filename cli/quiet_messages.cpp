// SPDX-License-Identifier: MIT
#include "cli/quiet_messages.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::cli {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Of launch: the rank that failed first, the lost hosts, the cause, and how the job ended.
bool is_bad_end_of_run(std::string_view text) {
  constexpr std::array<std::string_view, 4> causes{
      "what the output says:", "no known failure matches:", "cause in the job's log:", "the last "};
  if (std::ranges::any_of(causes, [&](std::string_view lead) { return text.starts_with(lead); })) return true;
  if (text.starts_with("the job ")) return !text.starts_with("the job ended well");
  if (text.starts_with("rank ") || text.starts_with("ranks "))
    return has(text, " failed first: ") || has(text, " failed within 1 s: ") || has(text, " has failed: ");
  if (text.starts_with("all ")) return has(text, " ranks failed alike: ");
  return has(text, " was lost: the connection to it broke");
}

// Of submit, wait and logs -f: "job 7 (train) failed with exit status 3".
bool is_bad_end_of_job(std::string_view text) {
  if (!text.starts_with("job ") && !text.starts_with("run ")) return false;
  constexpr std::array<std::string_view, 9> ends{
      " failed",        " used up its time limit", " was cancelled",
      " lost a host",   " was ended because",      " is unknown to the scheduler",
      " can never run", " was stopped by",         " has ended with status "};
  const std::string_view line = text.substr(0, text.find('\n'));
  return std::ranges::any_of(ends, [&](std::string_view end) { return has(line, end); }) &&
         !has(line, " has ended with status 0");
}

}  // namespace

bool is_shown_when_quiet(std::string_view text) {
  constexpr std::string_view lead = "ddlrun: ";
  if (has(text, "ddlrun: error: ")) return true;
  if (text.starts_with("  try: ")) return true;  // of an end that was shown
  if (!text.starts_with(lead)) return false;
  text.remove_prefix(lead.size());
  return is_bad_end_of_run(text) || is_bad_end_of_job(text);
}

}  // namespace ddlrun::cli
