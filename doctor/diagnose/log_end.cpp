// SPDX-License-Identifier: MIT
#include "doctor/diagnose/log_end.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/failure_counts.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/result_lines.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t end_lines = 12;  // what counts as the end
constexpr std::uint64_t setup_lines = 16;
constexpr int sure_score = 95;
constexpr std::uint64_t message_lines = 8;
constexpr std::uint64_t after_error = 75, after_fatal = 300;  // lines that only a run that goes on prints
constexpr std::size_t min_ordinary_lines = 2;
constexpr std::uint64_t longest_message = 20;  // so many lines may belong to the last bad one
constexpr std::uint64_t long_run = 4;          // lines without a bad one
constexpr std::uint64_t result_run = 3;
constexpr std::size_t min_results = 2;

// "hello from n1", "hello from n2": what ranks print one after another. The same line twice is none.
bool is_alike(std::string_view a, std::string_view b) {
  constexpr std::string_view digits = "0123456789";
  if (a == b) return false;
  if (std::count(a.begin(), a.end(), ' ') < 2 || has_any(a, {"0x", "WARN", "arning"}) || a.starts_with('[') ||
      a.starts_with('*'))
    return false;
  while (!a.empty() && !b.empty()) {
    const bool number = has(digits, a.substr(0, 1)) && has(digits, b.substr(0, 1));
    if (!number && a.front() != b.front()) return false;
    a.remove_prefix(number ? std::min(a.find_first_not_of(digits), a.size()) : 1);
    b.remove_prefix(number ? std::min(b.find_first_not_of(digits), b.size()) : 1);
  }
  return a.empty() && b.empty();
}

bool are_alike(const std::vector<std::string_view>& lines) {
  return std::adjacent_find(lines.begin(), lines.end(), is_alike) != lines.end();
}

bool reports_end(std::string_view line) {
  constexpr std::array words = {
      "done",          "Done",         "finished",  "Finished",        "omplete", "accuracy",
      "success",       "Success",      "otal time", "all time",        "lapsed",  "PASSED",
      "'ok'",          "End Time",     "end time",  "Finalis",         "Finaliz", "Execution rate",
      "Results saved", "successfully", "Goodbye",   "Destroy COMPLETE"};
  if (has_any(line, {"ncomplete", "rror", "ailed", "not complete"})) return false;
  return line == "End" || has_any(line, words);  // OpenFOAM's last line
}

// Of the last lines those behind the last bad one that are no part of a stack.
std::vector<std::string_view> ordinary_lines(const LogFacts& log, std::uint64_t last_bad) {
  std::vector<std::string_view> lines;
  for (const LogLine& line : log.last_lines) {
    const bool is_noise = has_any(line.text, {"0x", "NCCL INFO"}) && !has(line.text, "Destroy COMPLETE");
    if (line.line > last_bad && !is_noise) lines.push_back(line.text);
  }
  return lines;
}

std::uint64_t last_bad_line(const LogFacts& log) {
  return std::max({log.salient.last_doubtful(), log.matches.last_line(), log.last_stack_line});
}

// `time` and a batch system print their lines behind a failure too.
std::uint64_t lines_after(const LogFacts& log, std::uint64_t line) {
  return log.lines - std::min(log.lines, line + log.footers.count_after(line));
}

// "cannot use x, falling back to y": an attempt that is only repeated ("retrying") is none.
bool names_recovery(std::string_view line) {
  constexpr std::array words = {"rebuilding",   "rebuilt",         "falling back", "fallback",
                                "fell back",    "continuing with", "skipping it",  "regenerat",
                                "recreating",   "recomputing",     "recovered",    "using the default",
                                "using default"};
  return has_any(line, words) &&
         !has_any(line, {"ailed to reb", "allback failed", "annot fall", "fallback:"});
}

// unittest: "Ran 3 tests in 0.1s", "OK"; pytest: "=== 3 passed in 0.02s ===".
bool ends_with_passed_tests(const std::vector<LogLine>& last) {
  if (is_passed_summary(last.back().text)) return true;
  const std::string_view verdict = trim(last.back().text);
  const bool is_ok = verdict == "OK" || verdict.starts_with("OK (");
  return is_ok && last.size() > 1 && last[last.size() - 2].text.starts_with("Ran ") &&
         has(last[last.size() - 2].text, " test");
}

// One line looks bad, as an error in words or as a known message.
bool has_one_bad_line(const LogFacts& log, std::uint64_t last_bad) {
  const auto& kept = log.salient.kept();
  if (!std::ranges::all_of(kept, [last_bad](const SalientLine& line) {
        return line.score < min_doubtful_score || line.moment.sequence == last_bad;
      }))
    return false;
  const auto matches = log.matches.ranked(log.sources, "", "", {});
  return std::ranges::all_of(matches, [last_bad](const Finding& finding) {
    return finding.kind == SignatureClass::benign ||
           (finding.count == 1 && !finding.evidence.empty() && finding.evidence.front().line == last_bad);
  });
}

}  // namespace

bool run_recovers(const LogFacts& log) {
  if (log.sources.size() != 1 || log.last_lines.empty() || !log.tracebacks.exceptions().empty() ||
      log.tracebacks.is_cut_off() || log.matches.first_failed_rank(log.sources))
    return false;
  const std::uint64_t last_bad = last_bad_line(log);
  const LogLine& last = log.last_lines.back();
  if (last_bad == 0 || last.line <= last_bad) return false;
  if (ends_with_passed_tests(log.last_lines)) return true;
  if (!reports_end(last.text) && !trim(std::string_view(last.text)).ends_with(": ok")) return false;
  const auto is_bad = [last_bad](const SalientLine& line) { return line.moment.sequence == last_bad; };
  const auto& kept = log.salient.kept();
  const auto bad = std::ranges::find_if(kept, is_bad);
  bool recovers = bad != kept.end() && names_recovery(bad->line.text);
  for (const std::string_view line : ordinary_lines(log, last_bad))
    recovers = recovers || names_recovery(line);
  return recovers && has_one_bad_line(log, last_bad);
}

bool run_continues(const LogFacts& log) {
  if (run_recovers(log)) return true;
  if (log.sources.size() != 1 || log.salient.shows_fatal()) return false;
  const std::uint64_t last = last_bad_line(log);
  // The rest of a long message is no output of a run.
  if (log.salient.highest_score() >= sure_score && lines_after(log, last) < message_lines) return false;
  const auto lines = ordinary_lines(log, last);
  if (lines.size() < min_ordinary_lines) return false;
  return longest_message <= lines_after(log, last) || are_alike(lines) ||
         std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return is_result(line) || reports_end(line); });
}

bool run_completes(const LogFacts& log) {
  if (run_recovers(log)) return true;
  if (!run_continues(log)) return false;
  const std::uint64_t last = last_bad_line(log), after = lines_after(log, last);
  const auto lines = ordinary_lines(log, last);
  const auto results = static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_result));
  const bool has_end = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
    return reports_end(line) && !is_result(line);
  });
  const bool has_results = results >= min_results || (results > 0 && has_end);
  if (after >= result_run && (has_results || are_alike(lines))) return true;
  return after >= long_run && std::any_of(lines.begin(), lines.end(), reports_end);
}

bool run_survives(const LogFacts& log) {
  if (log.sources.size() != 1) return false;
  const std::uint64_t enough = log.salient.shows_fatal() ? after_fatal : after_error;
  return enough <= lines_after(log, last_bad_line(log));
}

bool is_wait(const LogFacts& log, std::string_view line) {
  const Signature* wait = find_signature(log.signatures, wait_id);
  return wait != nullptr &&
         std::any_of(wait->patterns.begin(), wait->patterns.end(), [line](const MessagePattern& pattern) {
           return match_line(pattern.front(), line).has_value();
         });
}

bool ends_waiting(const LogFacts& log) {
  return log.sources.size() == 1 && !log.last_lines.empty() && is_wait(log, log.last_lines.back().text);
}

bool ends_in_trouble(const LogFacts& log) {
  if (log.sources.size() != 1) return false;
  const auto& kept = log.salient.kept();
  // The advice behind such a message looks like the output of a run.
  const auto is_doubtful = [](const SalientLine& line) { return line.score >= min_doubtful_score; };
  const bool only_setup =
      log.matches.last_line() == 0 && std::any_of(kept.begin(), kept.end(), is_doubtful) &&
      std::all_of(kept.begin(), kept.end(),
                  [&](const SalientLine& line) { return is_of_setup(line.line.text) || !is_doubtful(line); });
  if (only_setup && !run_completes(log) && lines_after(log, log.salient.last_doubtful()) < setup_lines)
    return true;
  if (run_continues(log)) return false;
  return lines_after(log, log.salient.last_doubtful()) < end_lines &&
         std::any_of(kept.begin(), kept.end(),
                     [](const SalientLine& line) { return line.score >= min_end_score; });
}

}  // namespace ddlrun::diagnose
