// SPDX-License-Identifier: MIT
#include "doctor/diagnose/harmless_notes.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t most_before_note = 12;  // lines between the errors of a component and its note

// The lines of the message, in the order of the log, as one text.
std::string text_of(const Finding& finding) {
  std::vector<LogLine> lines = finding.evidence;
  lines.insert(lines.end(), finding.following.begin(), finding.following.end());
  std::ranges::stable_sort(lines, {}, &LogLine::line);
  std::string text;
  for (const LogLine& line : lines) text += (text.empty() ? "" : " ") + line.text;
  return text;
}

bool is_note(const Finding& finding, const LogFacts& log) {
  if (finding.kind == SignatureClass::benign) return true;
  if (finding.evidence.empty() || finding.kind > SignatureClass::generic) return false;
  const Signature* known = find_signature(log.signatures, finding.id);
  return known != nullptr && (known->harmless_alone || describes_no_failure(text_of(finding)));
}

// The adapter that the component did not get: programs run without it.
bool is_reason_of(const SalientLine& line, const Finding& note, const LogFacts& log) {
  const Signature* known = find_signature(log.signatures, note.id);
  if (known == nullptr || !known->harmless_alone || note.evidence.empty()) return false;
  const LogLine& end = note.evidence.front();
  const bool is_near = log.sources[line.source] == end.source && line.line.line < end.line &&
                       line.line.line + most_before_note >= end.line;
  const Signature* error = is_near ? error_class(log.signatures, line.line.text) : nullptr;
  return error != nullptr && error->unless_run_continues;
}

}  // namespace

bool describes_no_failure(std::string_view message) {
  constexpr std::string_view begins[] = {"WARNING", "Warning", "warning"};
  if (!starts_with_any(trim(message), begins)) return false;
  const bool ignores = has_any(message, {"e ignored", "is ignored", "are ignored", "gnoring "});
  const bool has_default = has_any(message, {"default", "Default"}) && has_any(message, {" used", "sing "});
  return ignores || has_default;
}

bool demote_notes(std::vector<Finding>& findings, const LogFacts& log) {
  const auto is_one = [&](const Finding& finding) { return is_note(finding, log); };
  const auto is_open = [](const Finding& finding) { return finding.kind != SignatureClass::benign; };
  const bool is_ended = log.matches.first_failed_rank(log.sources).has_value() ||
                        !log.tracebacks.exceptions().empty() || log.tracebacks.is_cut_off() ||
                        log.salient.shows_fatal();
  if (is_ended || !std::ranges::all_of(findings, is_one) || std::ranges::none_of(findings, is_open))
    return false;
  const bool is_explained = std::ranges::all_of(log.salient.kept(), [&](const SalientLine& line) {
    return line.score < min_doubtful_score || std::ranges::any_of(findings, [&](const Finding& note) {
             return shows_line(note, log.sources[line.source], line.line.line) ||
                    is_reason_of(line, note, log);
           });
  });
  if (!is_explained) return false;
  for (Finding& finding : findings) finding.kind = SignatureClass::benign;
  return true;
}

}  // namespace ddlrun::diagnose
