// SPDX-License-Identifier: MIT
#include "doctor/diagnose/promoted_cause.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/exception_cause.hpp"
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
constexpr std::string_view dos_ends_id = "J70";
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
  // The name of a program with a DOS line end is missing by itself.
  if (findings.empty() || findings.front().id == dos_ends_id || !is_missing_program(findings.front())) return;
  if (add_compiler_error(diagnosis, log)) return;
  const LogLine& missing = findings.front().evidence.front();
  const auto environment = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return is_before(finding, missing) && is_of_environment(finding.evidence.front().text);
  });
  if (environment != findings.end()) std::rotate(findings.begin(), environment, environment + 1);
}

// The other ranks report only that a rank is gone; its supervisor reports how it ended.
void promote_reported_end(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto ended = log.matches.first_failed_rank(log.sources);
  if (findings.empty() || !ended || !ended->is_certain || !ended->place.rank) return;
  const auto reports_peer_end = [&](const Finding& finding) {
    const Signature* known = find_signature(log.signatures, finding.id);
    return known != nullptr && known->reports_peer_end;
  };
  if (!reports_peer_end(findings.front()) || findings.front().place.rank != ended->place.rank) return;
  const auto own_end = std::ranges::find_if(findings, [&](const Finding& finding) {
    return finding.kind <= SignatureClass::generic && !finding.is_survived && !reports_peer_end(finding) &&
           finding.place.rank == ended->place.rank;
  });
  if (own_end != findings.end()) std::rotate(findings.begin(), own_end, own_end + 1);
}

// A crash, or a kill: a launcher also kills the ranks that are left after one failed.
bool ends_by_crash(const Finding& finding, const Signature* known) {
  return finding.kind <= SignatureClass::generic && !finding.evidence.empty() && known != nullptr &&
         (known->shows_stack || known->id == killed_id);
}

// Where the crash is reported: its stack may stand before the line that gives the signal.
LogLine begin_of_crash(const Finding& crash, const LogFacts& log) {
  LogLine at = crash.evidence.front();
  const bool has_stack = log.stack.crash_site() && log.sources[log.stack.source()] == at.source;
  if (has_stack) at.line = std::min(at.line, log.stack.evidence().line);
  return at;
}

// A line in words, and its class.
struct ClassedLine {
  SalientLine line;
  const Signature* error = nullptr;
};

// The lines just before the crash, of the same rank, whose class is known and explains a crash.
std::vector<ClassedLine> errors_near(const LogLine& at, const Finding& crash, const LogFacts& log) {
  const std::optional<std::uint32_t> rank = crash.place.rank;
  std::vector<ClassedLine> near;
  for (const SalientLine& line : log.salient.kept()) {
    const bool of_other = rank && line.place.rank && line.place.rank != rank;
    const bool is_near = line.line.line < at.line && line.line.line + most_before_crash >= at.line;
    if (of_other || !is_near || log.sources[line.source] != at.source || is_of_setup(line.line.text))
      continue;
    const Signature* error = error_class(log.signatures, error_headline(line));
    const bool is_plain =
        crash.id == killed_id && starts_with_any(line.line.text, {"ERROR", "Error: ", "FATAL"});
    const bool is_known = error != nullptr && (is_plain || !error->patterns.empty());
    if (is_known && !error->may_follow && !error->shows_stack) near.push_back({line, error});
  }
  return near;
}

// A crash after a call that failed is most often its consequence: the program uses what it did not get.
void promote_error_before_crash(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (findings.empty() ||
      !ends_by_crash(findings.front(), find_signature(log.signatures, findings.front().id)))
    return;
  const LogLine at = begin_of_crash(findings.front(), log);
  const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    const Signature* signature = find_signature(log.signatures, finding.id);
    return is_before(finding, at) && signature != nullptr && !signature->shows_stack &&
           !signature->may_follow && !is_of_environment(finding.evidence.front().text);
  });
  if (known != findings.end()) {
    std::rotate(findings.begin(), known, known + 1);
    return;
  }
  const std::vector<ClassedLine> near = errors_near(at, findings.front(), log);
  std::vector<SalientLine> lines;
  for (const ClassedLine& one : near) lines.push_back(one.line);
  const SalientLine* line = most_telling(lines, min_error_before_crash);
  if (line == nullptr) return;
  const Signature& error = *near[static_cast<std::size_t>(line - lines.data())].error;
  findings.insert(findings.begin(), likely_finding(*line, error, log, diagnosis));
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

// A failure that jobs go on after: the environment that the script activates, a configure script, a question
// about jobs.
bool is_without_effect(const Finding& finding) {
  if (finding.kind > SignatureClass::generic || finding.is_survived || finding.evidence.empty()) return false;
  const std::string& text = finding.evidence.front().text;
  return is_of_environment(text) || is_of_probe(text);
}

// Behind `line`; unless it is a mere question, with a long run between.
bool is_behind(const LogLine& line, const std::string& source, std::uint64_t later, const LogFacts& log) {
  if (source != line.source || later <= line.line) return false;
  return is_of_probe(line.text) || log.episodes.start_of(later) > log.episodes.start_of(line.line);
}

bool fails_later(const Finding& setup, const std::vector<Finding>& findings, const LogFacts& log) {
  const LogLine& line = setup.evidence.front();
  const bool by_finding = std::any_of(findings.begin(), findings.end(), [&](const Finding& later) {
    const bool ends = later.kind <= SignatureClass::ending && !later.is_survived && !later.evidence.empty();
    return ends && !is_without_effect(later) &&
           is_behind(line, later.evidence.front().source, later.evidence.front().line, log);
  });
  const auto& kept = log.salient.kept();
  return by_finding || std::any_of(kept.begin(), kept.end(), [&](const SalientLine& later) {
           const bool counts = later.score >= min_failure_score && !is_consequence(later.line.text) &&
                               !is_of_setup(later.line.text);
           return counts && is_behind(line, log.sources[later.source], later.line.line, log);
         });
}

// What was missing before the program, and what it did not need: it ran, and something else failed.
void demote_setup(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (log.sources.size() != 1) return;
  std::vector<bool> is_survived;
  for (const Finding& finding : findings)
    is_survived.push_back(is_without_effect(finding) && fails_later(finding, findings, log));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (!is_survived[i]) continue;
    findings[i].is_survived = true;
    findings[i].kind = SignatureClass::secondary;
  }
  std::stable_partition(findings.begin(), findings.end(),
                        [](const Finding& finding) { return !finding.is_survived; });
}

}  // namespace

void promote_explanation(Diagnosis& diagnosis, const LogFacts& log) {
  demote_setup(diagnosis, log);
  promote_limit_cause(diagnosis, log);
  demote_refused_connection(diagnosis, log);
  promote_cause_of_missing(diagnosis, log);
  promote_error_before_crash(diagnosis, log);
  promote_later_end(diagnosis, log);
  promote_reported_end(diagnosis, log);
}

}  // namespace ddlrun::diagnose
