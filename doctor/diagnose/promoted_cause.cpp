// SPDX-License-Identifier: MIT
#include "doctor/diagnose/promoted_cause.hpp"

#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr int time_limit_status = 124;
constexpr std::uint64_t most_between = 25;  // lines between a stall and the limit

bool is_of_class(std::string_view text, std::string_view id, const LogFacts& log) {
  const Signature* error = error_class(log.signatures, text);
  return error != nullptr && error->id == id;
}

bool is_time_limit(const Finding& finding, const LogFacts& log) {
  return is_of_class(finding.title, time_limit_id, log) ||
         (!finding.evidence.empty() && is_of_class(finding.evidence.front().text, time_limit_id, log));
}

// A job whose ranks all wait reaches any time limit. Where much was printed after the note, the wait was
// over.
void promote_stall(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto stall = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == stall_id && !finding.evidence.empty();
  });
  if (stall == findings.end()) return;
  const Finding& first = findings.front();
  const bool of_limit = first.kind <= SignatureClass::ending && is_time_limit(first, log);
  const bool of_status = first.kind >= SignatureClass::secondary && diagnosis.end.status == time_limit_status;
  if (!of_limit && !of_status) return;
  const std::uint64_t end = of_limit && !first.evidence.empty() ? first.evidence.front().line : log.lines;
  if (end > stall->evidence.front().line + most_between) return;
  std::rotate(findings.begin(), stall, stall + 1);
  findings.front().kind = SignatureClass::generic;
}

bool is_missing_program(const Finding& finding) {
  return finding.kind <= SignatureClass::generic && !finding.evidence.empty() &&
         has_any(finding.evidence.front().text, {"execv", "xecutable", "command not found", "could not find",
                                                 "unable to find the specified", "cannot find the program"});
}

// The script compiles the program and goes on without it.
void add_compiler_error(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (findings.empty() || !is_missing_program(findings.front())) return;
  const LogLine& missing = findings.front().evidence.front();
  const SalientLine* first = nullptr;
  for (const SalientLine& line : log.salient.kept()) {
    const bool is_before = log.sources[line.source] == missing.source && line.line.line < missing.line;
    const bool is_error = line.score >= min_failure_score && is_of_class(line.line.text, compiler_id, log);
    if (is_before && is_error && (first == nullptr || line.line.line < first->line.line)) first = &line;
  }
  const Signature* compiler = find_signature(log.signatures, compiler_id);
  if (first == nullptr || compiler == nullptr) return;
  Finding finding = finding_for(*compiler, first->place, first->line.text, log, diagnosis);
  finding.title = error_headline(*first);
  finding.evidence.push_back(in_source(first->line, log, first->source));
  findings.insert(findings.begin(), std::move(finding));
}

}  // namespace

void promote_explanation(Diagnosis& diagnosis, const LogFacts& log) {
  promote_stall(diagnosis, log);
  add_compiler_error(diagnosis, log);
}

}  // namespace ddlrun::diagnose
