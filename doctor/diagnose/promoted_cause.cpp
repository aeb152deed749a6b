// SPDX-License-Identifier: MIT
#include "doctor/diagnose/promoted_cause.hpp"

#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_end.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/time_limit_cause.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t most_before_crash = 12;  // lines between an error and a crash
constexpr int min_error_before_crash = 80;

constexpr std::string_view killed_id = "E1";
constexpr std::string_view missing_in_script_id = "J92";
constexpr std::string_view tcp_connect_id = "D2";
constexpr std::string_view mpi_error_id = "X65";

bool is_demoted(const Finding& finding) {
  return finding.id == tcp_connect_id && finding.kind == SignatureClass::secondary;
}

// A peer that refuses a connection has ended: where a rank exited by itself, that is what happened first.
// One that cannot be reached ("timed out", "No route to host") is another matter.
void demote_refused_connection(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto ended = log.matches.first_failed_rank(log.sources);
  if (!ended || !ended->how.starts_with("exit status ")) return;
  const auto reports_mpi_error = [](const Finding& finding) { return finding.id == mpi_error_id; };
  if (std::any_of(findings.begin(), findings.end(), reports_mpi_error)) return;
  for (Finding& finding : findings) {
    const bool is_refused =
        std::any_of(finding.evidence.begin(), finding.evidence.end(), [](const LogLine& line) {
          return has_any(line.text, {"Connection refused", "Connection reset"});
        });
    if (finding.id == tcp_connect_id && is_refused) finding.kind = SignatureClass::secondary;
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return !is_demoted(a) && is_demoted(b); });
}

// A program, a script of Python or one of its modules.
bool is_missing_program(const Finding& finding) {
  const auto is_missing = [](const LogLine& line) {
    return has_any(line.text, {"execv", "xecutable", "command not found", "could not find",
                               "unable to find the specified", "cannot find the program", "can't open file",
                               "cannot open shared object file", "No module named"});
  };
  return finding.kind <= SignatureClass::generic && !finding.evidence.empty() &&
         (finding.id == missing_in_script_id ||
          std::any_of(finding.evidence.begin(), finding.evidence.end(), is_missing));
}

// The script compiles the program and goes on without it.
bool add_compiler_error(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const LogLine& missing = findings.front().evidence.front();
  const SalientLine* first = nullptr;
  for (const SalientLine& line : log.salient.kept()) {
    const bool is_before = log.sources[line.source] == missing.source && line.line.line < missing.line;
    const bool is_error =
        line.score >= min_failure_score && is_of_class(line.line.text, compiler_id, log.signatures);
    if (is_before && is_error && (first == nullptr || line.line.line < first->line.line)) first = &line;
  }
  const Signature* compiler = find_signature(log.signatures, compiler_id);
  if (first == nullptr || compiler == nullptr) return false;
  findings.insert(findings.begin(), likely_finding(*first, *compiler, log, diagnosis));
  return true;
}

// "job.sh: line 7: ../env/activate.sh: No such file or directory", or a module that is missing: what the
// environment would have put into PATH is not found either.
bool is_of_environment(std::string_view text) {
  constexpr std::array words = {"conda", "activate", "venv", "env.", "env/", "setup", "setvars", "profile"};
  return is_of_modules(text) || (is_of_setup(text) && has_any(text, words));
}

bool is_before(const Finding& finding, const LogLine& line) {
  return finding.kind <= SignatureClass::generic && !finding.is_survived && !finding.evidence.empty() &&
         finding.evidence.front().source == line.source && finding.evidence.front().line < line.line;
}

void promote_cause_of_missing(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (findings.empty() || !is_missing_program(findings.front())) return;
  if (add_compiler_error(diagnosis, log)) return;
  const LogLine& missing = findings.front().evidence.front();
  const auto environment = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return is_before(finding, missing) && is_of_environment(finding.evidence.front().text);
  });
  if (environment != findings.end()) std::rotate(findings.begin(), environment, environment + 1);
}

// A crash after a call that failed is most often its consequence: the program uses what it did not get.
void promote_error_before_crash(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (findings.empty() || findings.front().kind > SignatureClass::generic) return;
  const Signature* crash = find_signature(log.signatures, findings.front().id);
  // A launcher also kills the ranks that are left after one failed.
  const bool is_end = crash != nullptr && (crash->shows_stack || crash->id == killed_id);
  if (!is_end || findings.front().evidence.empty()) return;
  LogLine at = findings.front().evidence.front();
  const bool has_stack = log.stack.crash_site() && log.sources[log.stack.source()] == at.source;
  if (has_stack) at.line = std::min(at.line, log.stack.evidence().line);
  const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    const Signature* signature = find_signature(log.signatures, finding.id);
    return is_before(finding, at) && signature != nullptr && !signature->shows_stack &&
           !signature->may_follow && !is_of_environment(finding.evidence.front().text);
  });
  if (known != findings.end()) {
    std::rotate(findings.begin(), known, known + 1);
    return;
  }
  const std::optional<std::uint32_t> rank = findings.front().place.rank;
  std::vector<SalientLine> before;
  for (const SalientLine& line : log.salient.kept()) {
    const bool of_other = rank && line.place.rank && line.place.rank != rank;
    const bool is_near = line.line.line < at.line && line.line.line + most_before_crash >= at.line;
    if (of_other || !is_near || log.sources[line.source] != at.source || is_of_setup(line.line.text))
      continue;
    const Signature* error = error_class(log.signatures, error_headline(line));
    const bool is_plain =
        crash->id == killed_id && starts_with_any(line.line.text, {"ERROR", "Error: ", "FATAL"});
    const bool is_known = error != nullptr && (is_plain || !error->patterns.empty());
    if (is_known && !error->may_follow && !error->shows_stack) before.push_back(line);
  }
  const SalientLine* line = most_telling(before, min_error_before_crash);
  if (line == nullptr) return;
  const Signature* error = error_class(log.signatures, error_headline(*line));
  findings.insert(findings.begin(), likely_finding(*line, *error, log, diagnosis));
}

// A log that several runs wrote, one after the other: the last one met no exception, and was ended.
void promote_later_end(Diagnosis& diagnosis, const LogFacts& log) {
  constexpr std::uint64_t other_run = 200;  // lines
  auto& findings = diagnosis.also_seen;
  if (findings.empty() || findings.front().id != python_exception_id || log.sources.size() != 1) return;
  const std::uint64_t last = findings.front().evidence.back().line;
  const auto end = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return is_end_from_outside(finding) && !finding.evidence.empty() &&
           finding.evidence.front().line > last + other_run;
  });
  if (end == findings.end()) return;
  findings.front().is_survived = true;
  end->kind = SignatureClass::generic;
  std::rotate(findings.begin(), end, end + 1);
}

}  // namespace

void promote_explanation(Diagnosis& diagnosis, const LogFacts& log) {
  promote_limit_cause(diagnosis, log);
  demote_refused_connection(diagnosis, log);
  promote_cause_of_missing(diagnosis, log);
  promote_error_before_crash(diagnosis, log);
  promote_later_end(diagnosis, log);
}

}  // namespace ddlrun::diagnose
