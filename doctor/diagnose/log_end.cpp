// SPDX-License-Identifier: MIT
#include "doctor/diagnose/log_end.hpp"

#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t end_lines = 12;  // what counts as the end
constexpr std::uint64_t setup_lines = 16;
constexpr int sure_score = 95;
constexpr std::uint64_t message_lines = 8;
constexpr std::uint64_t after_error = 75, after_fatal = 300;  // lines that only a run that goes on prints
constexpr std::size_t min_ordinary_lines = 2;
constexpr std::uint64_t long_run = 4;  // lines without a bad one

std::uint64_t last_bad_line(const LogFacts& log) {
  return std::max(log.salient.last_doubtful(), log.matches.last_line());
}

}  // namespace

bool run_continues(const LogFacts& log) {
  if (log.sources.size() != 1 || log.salient.shows_fatal()) return false;
  const std::uint64_t last = last_bad_line(log);
  // The rest of a long message is no output of a run.
  if (log.salient.highest_score() >= sure_score && last + message_lines > log.lines) return false;
  const auto is_ordinary = [last](const LogLine& line) {
    const bool of_stack =
        line.text.find("0x") != std::string::npos || line.text.find("NCCL INFO") != std::string::npos;
    return line.line > last && !of_stack;
  };
  const auto count = std::count_if(log.last_lines.begin(), log.last_lines.end(), is_ordinary);
  return static_cast<std::size_t>(count) >= min_ordinary_lines;
}

bool run_completes(const LogFacts& log) {
  if (!run_continues(log) || log.lines - last_bad_line(log) < long_run) return false;
  constexpr std::array words = {"done",     "Done",    "finished",       "Finished",      "omplete",
                                "accuracy", "success", "Success",        "otal time",     "all time",
                                "lapsed",   "PASSED",  "'ok'",           "End Time",      "end time",
                                "Finalis",  "Finaliz", "Execution rate", "Results saved", "successfully",
                                "real ",    "user ",   "Goodbye"};
  return std::any_of(log.last_lines.begin(), log.last_lines.end(),
                     [&](const LogLine& line) { return has_any(line.text, words); });
}

bool run_survives(const LogFacts& log) {
  if (log.sources.size() != 1) return false;
  const std::uint64_t enough = log.salient.shows_fatal() ? after_fatal : after_error;
  return last_bad_line(log) + enough <= log.lines;
}

bool ends_waiting(const LogFacts& log) {
  const Signature* wait = find_signature(log.signatures, wait_id);
  return wait != nullptr && log.sources.size() == 1 && !log.last_lines.empty() &&
         std::any_of(wait->patterns.begin(), wait->patterns.end(), [&](const MessagePattern& pattern) {
           return match_line(pattern.front(), log.last_lines.back().text).has_value();
         });
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
  if (only_setup && !run_completes(log) && log.salient.last_doubtful() + setup_lines > log.lines) return true;
  if (run_continues(log)) return false;
  return log.salient.last_doubtful() + end_lines > log.lines &&
         std::any_of(kept.begin(), kept.end(),
                     [](const SalientLine& line) { return line.score >= min_end_score; });
}

}  // namespace ddlrun::diagnose
