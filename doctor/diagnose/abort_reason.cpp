// SPDX-License-Identifier: MIT
#include "doctor/diagnose/abort_reason.hpp"

#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/result_lines.hpp"
#include "doctor/diagnose/salient_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ddlrun::diagnose {

namespace {

constexpr std::string_view abort_id = "E26";
constexpr std::uint64_t near_abort = 12;  // lines
constexpr std::uint64_t near_words = 4;   // lines

bool is_abort(const Finding& finding) { return finding.id == abort_id && !finding.evidence.empty(); }

// What a program prints in words; a launcher reports the end of the ranks behind it.
bool is_sentence(std::string_view text) {
  constexpr std::ptrdiff_t least_blanks = 2;
  return std::count(text.begin(), text.end(), ' ') >= least_blanks && !is_result(text) &&
         !is_consequence(text);
}

}  // namespace

const SalientLine* line_before_abort(const std::vector<Finding>& findings, const LogFacts& log) {
  if (findings.empty() || !is_abort(findings.front())) return nullptr;
  const LogLine& end = findings.front().evidence.front();
  const SalientLine* last = nullptr;
  for (const SalientLine& line : log.salient.kept()) {
    const bool is_near = line.line.line < end.line && line.line.line + near_abort >= end.line;
    if (line.score < min_doubtful_score || !is_near || log.sources[line.source] != end.source) continue;
    if (last == nullptr || line.line.line > last->line.line) last = &line;
  }
  return last;
}

const SalientLine* line_after_abort(const std::vector<Finding>& findings, const LogFacts& log) {
  if (findings.empty() || !is_abort(findings.front())) return nullptr;
  const Finding& abort = findings.front();
  const LogLine& end = abort.evidence.back();
  const SalientLine* first = nullptr;
  for (const SalientLine& line : log.salient.kept()) {
    const bool is_near = line.line.line > end.line && line.line.line <= end.line + near_abort;
    const bool of_another = line.place.rank && abort.place.rank && *line.place.rank != *abort.place.rank;
    if (line.score < min_doubtful_score || !is_near || of_another || log.sources[line.source] != end.source ||
        is_consequence(line.line.text))
      continue;
    if (first == nullptr || line.line.line < first->line.line) first = &line;
  }
  return first;
}

void add_last_words(Finding& cause, const LogFacts& log) {
  if (!is_abort(cause)) return;
  const LogLine& begin = cause.evidence.front();
  const LogLine& end = cause.evidence.back();
  const auto is_before = [&](const LogLine& line) {
    return line.source == begin.source && line.line < begin.line && line.line + near_words >= begin.line &&
           is_sentence(line.text);
  };
  const auto is_behind = [&](const LogLine& line) {
    return line.source == end.source && line.line > end.line && line.line <= end.line + near_abort &&
           is_sentence(line.text);
  };
  if (!log.lines_before_end.empty() && is_before(log.lines_before_end.back())) {
    cause.title += " after: " + log.lines_before_end.back().text;
    return;
  }
  const auto is_of_another = [&](const LogLine& line) {
    return std::ranges::any_of(log.salient.kept(), [&](const SalientLine& kept) {
      return kept.line.line == line.line && kept.place.rank && cause.place.rank &&
             *kept.place.rank != *cause.place.rank;
    });
  };
  const auto behind = std::ranges::find_if(log.last_lines, is_behind);
  if (behind == log.last_lines.end() || is_of_another(*behind)) return;
  cause.title += ", and printed: " + behind->text;
  cause.evidence.push_back(*behind);
}

}  // namespace ddlrun::diagnose
