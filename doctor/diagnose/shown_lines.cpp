// SPDX-License-Identifier: MIT
#include "doctor/diagnose/shown_lines.hpp"

#include "doctor/diagnose/log_finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t few_shown_lines = 3;

// A line of a Python stack is no error: the exception below it is.
void show_exceptions(std::vector<LogLine>& lines, const LogFacts& log) {
  constexpr std::size_t most = 8;
  const auto is_of_stack = [&log](const LogLine& line) {
    const auto at = std::find(log.sources.begin(), log.sources.end(), line.source);
    return log.tracebacks.is_of_stack(static_cast<std::uint32_t>(at - log.sources.begin()), line.line);
  };
  if (std::erase_if(lines, is_of_stack) == 0) return;
  for (const PythonException& one : log.tracebacks.exceptions()) {
    LogLine line{log.sources[one.source], one.evidence.back().line, one.evidence.back().text};
    const bool is_known = std::any_of(lines.begin(), lines.end(), [&](const LogLine& known) {
      return known.source == line.source && known.line == line.line;
    });
    if (one.place.rank) line.text = fmt::format("rank {}: {}", *one.place.rank, line.text);
    if (!is_known && lines.size() < most) lines.push_back(std::move(line));
  }
}

}  // namespace

bool exited_itself(const FailingRank& rank) {
  return rank.how.starts_with("exit status ") || rank.how.starts_with("Exited with exit code ");
}

bool shows_only_consequences(const LogFacts& log) {
  const auto& exceptions = log.tracebacks.exceptions();
  const auto first = log.matches.first_failed_rank(log.sources);
  const bool by_itself = first && exited_itself(*first) && !first->how.ends_with(" 1");
  return by_itself && !exceptions.empty() &&
         std::all_of(exceptions.begin(), exceptions.end(), [&](const PythonException& one) {
           return one.is_consequence && (!one.place.rank || one.place.rank != first->place.rank);
         });
}

void fill_salient(Diagnosis& diagnosis, const LogFacts& log) {
  const auto& last = log.lines_before_end.empty() ? log.last_lines : log.lines_before_end;
  for (const auto& found : log.salient.best(8))
    diagnosis.salient_lines.push_back(in_source(found.line, log, found.source));
  show_exceptions(diagnosis.salient_lines, log);
  // Few lines look like errors: the last lines before the launcher's message may be errors in other words.
  const bool are_few = diagnosis.salient_lines.size() < few_shown_lines;
  for (const LogLine& line : are_few ? last : std::vector<LogLine>()) {
    const auto& known = diagnosis.salient_lines;
    if (std::find(known.begin(), known.end(), line) == known.end()) diagnosis.salient_lines.push_back(line);
  }
  show_exceptions(diagnosis.salient_lines, log);
  // What launchers add to each failure, and the head of what the cause shows, explain nothing.
  if (diagnosis.cause)
    std::erase_if(diagnosis.salient_lines, [&](const LogLine& line) {
      return is_boilerplate(line.text) || is_head_of_known(line, {*diagnosis.cause});
    });
  const auto order = [&log](const LogLine& line) {
    return std::pair(std::find(log.sources.begin(), log.sources.end(), line.source), line.line);
  };
  std::sort(diagnosis.salient_lines.begin(), diagnosis.salient_lines.end(),
            [&order](const LogLine& a, const LogLine& b) { return order(a) < order(b); });
}

void add_doubtful(Diagnosis& diagnosis, const LogFacts& log) {
  for (const auto& found : log.salient.best(3)) {
    if (found.score >= min_doubtful_score)
      diagnosis.salient_lines.push_back(in_source(found.line, log, found.source));
  }
}

}  // namespace ddlrun::diagnose
