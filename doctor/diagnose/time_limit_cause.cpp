// SPDX-License-Identifier: MIT
#include "doctor/diagnose/time_limit_cause.hpp"

#include "doctor/diagnose/exception_cause.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_end.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/output_gap.hpp"
#include "doctor/diagnose/result_lines.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr int time_limit_status = 124;
// Lines before the limit: of a stall or a known error, and of an error that only its words show.
constexpr std::uint64_t most_between = 25;
constexpr std::uint64_t most_behind_words = 3;
constexpr std::uint64_t most_behind_partial =
    8;  // of a stall of some ranks: the rest of its note, and the end

constexpr std::string_view still_end_id = "F45";
constexpr std::string_view left_waiting_id = "F46";
constexpr std::string_view ending_crash_id = "E40";              // of mpirun, as the job ends
constexpr std::string_view thread_limit_ids[] = {"E27", "R35"};  // of OpenMP, of OpenBLAS

// One log shows that the limit had ended the job before.
bool is_behind_limit(const Finding& finding, const Finding& limit) {
  if (finding.evidence.empty() || limit.evidence.empty()) return false;
  const LogLine &begin = finding.evidence.front(), &end = limit.evidence.front();
  return begin.source == end.source && begin.line > end.line;
}

// What a launcher reports while the limit ends the job, such as a lost route, is no cause.
void promote_limit(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  if (findings.empty()) return;
  const Finding first = findings.front();
  const auto limit = std::find_if(findings.begin() + 1, findings.end(), [&](const Finding& finding) {
    return finding.kind <= SignatureClass::generic && is_time_limit(finding, log.signatures) &&
           is_behind_limit(first, finding);
  });
  if (limit != findings.end()) std::rotate(findings.begin(), limit, limit + 1);
}

// A process that crashes while the limit ends the job is no other cause.
void demote_crashes(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto is_crash = [&](const Finding& finding) {
    const Signature* known = find_signature(log.signatures, finding.id);
    return known != nullptr &&
           (known->shows_stack || known->id == launcher_crash_id || known->id == ending_crash_id);
  };
  const auto is_behind = [&](const Finding& finding) {
    return std::ranges::any_of(findings, [&](const Finding& limit) {
      return is_time_limit(limit, log.signatures) && is_behind_limit(finding, limit);
    });
  };
  std::vector<Finding> crashes;
  for (const Finding& finding : findings)
    if (finding.kind <= SignatureClass::generic && is_crash(finding) && is_behind(finding))
      crashes.push_back(finding);
  for (Finding& crash : crashes) {
    std::erase_if(findings, [&](const Finding& finding) { return finding.id == crash.id; });
    crash.kind = SignatureClass::secondary;
    insert_before(findings, SignatureClass::benign, std::move(crash));
  }
}

std::uint64_t lines_in_source(const Finding& finding, const LogFacts& log) {
  const auto at = std::find(log.sources.begin(), log.sources.end(), finding.evidence.front().source);
  return at == log.sources.end() ? log.lines
                                 : log.lines_of_source[static_cast<std::size_t>(at - log.sources.begin())];
}

// The last note that ranks wait, of some ranks or of all.
std::vector<Finding>::iterator find_stall(std::vector<Finding>& findings) {
  auto last = findings.end();
  for (auto at = findings.begin(); at != findings.end(); ++at) {
    if (!is_stall(*at) || at->evidence.empty()) continue;
    if (last == findings.end() || at->evidence.front().line > last->evidence.front().line) last = at;
  }
  return last;
}

// The program printed results behind the note, or a rank went on: what the note reports was over.
bool goes_on(const Finding& stall) {
  for (const auto* lines : {&stall.evidence, &stall.following}) {
    for (const LogLine& line : *lines) {
      if (line == stall.evidence.front() || is_of_scheduler(line.text)) continue;
      if (line.text.starts_with("ddlrun: the job is ended, as --on-stall")) return false;
      const bool is_own = line.text.starts_with("ddlrun: ");
      if (is_own ? has_any(line.text, {" goes on after ", " go on after "}) : is_result(line.text))
        return true;
    }
  }
  return false;
}

// A job whose ranks wait reaches any time limit. Where much was printed after the note, the wait was over.
void promote_stall(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto stall = find_stall(findings);
  if (stall == findings.end()) return;
  if (goes_on(*stall)) {
    findings.erase(stall);
    return;
  }
  const Finding& first = findings.front();
  const bool of_limit = first.kind <= SignatureClass::ending && is_time_limit(first, log.signatures);
  const bool of_status = first.kind >= SignatureClass::secondary && diagnosis.end.status == time_limit_status;
  if (!of_limit && !of_status) return;
  const bool is_here =
      of_limit && !first.evidence.empty() && first.evidence.front().source == stall->evidence.front().source;
  const std::uint64_t end = is_here ? first.evidence.front().line : lines_in_source(*stall, log);
  const std::uint64_t most = stall->id == stall_id ? most_between : most_behind_partial;
  if (end > stall->evidence.front().line + most) return;
  std::rotate(findings.begin(), stall, stall + 1);
  findings.front().kind = SignatureClass::generic;
}

// The time stamps of the log, or its last line, show that nothing went on for long before the limit.
void add_still_end(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const Signature* still = find_signature(log.signatures, still_end_id);
  if (still == nullptr || findings.empty() || log.still_end.last.text.empty()) return;
  if (findings.front().kind > SignatureClass::ending || !is_time_limit(findings.front(), log.signatures))
    return;
  const LogLine& last = log.still_end.last;
  const bool waits = is_wait(log, last.text);
  if (log.still_end.silent_seconds == 0 && !waits) return;
  const std::string what =
      waits ? last.text : "no output for " + render_hours(log.still_end.silent_seconds) + " before it";
  Finding finding = finding_for(*still, {}, "", log, diagnosis);
  finding.kind = SignatureClass::generic;
  finding.title += ": " + what;
  finding.evidence = {last};
  finding.evidence.insert(finding.evidence.end(), findings.front().evidence.begin(),
                          findings.front().evidence.end());
  findings.insert(findings.begin(), std::move(finding));
}

// The lines between an error and what ended the job; of another source, the rest of its own.
std::optional<std::uint64_t> lines_to_end(const std::string& source, std::uint64_t line, const Finding& end,
                                          const LogFacts& log) {
  const auto at = std::find(log.sources.begin(), log.sources.end(), source);
  if (at == log.sources.end()) return std::nullopt;
  std::uint64_t last = log.lines_of_source[static_cast<std::size_t>(at - log.sources.begin())];
  if (!end.evidence.empty() && end.evidence.back().source == source) last = end.evidence.back().line;
  if (line > last) return std::nullopt;
  return last - line;
}

// The remedy of a rank whose failure the others do not notice.
void add_waiting(Finding& failed, const Finding& limit, const LogFacts& log, const Diagnosis& diagnosis) {
  const auto& of_limit = limit.evidence;
  const auto shows_limit = [&](const LogLine& line) { return !of_limit.empty() && line == of_limit.front(); };
  failed.following.clear();
  if (!of_limit.empty() && std::none_of(failed.evidence.begin(), failed.evidence.end(), shows_limit))
    failed.evidence.push_back(of_limit.front());
  const Signature* waiting = find_signature(log.signatures, left_waiting_id);
  if (waiting == nullptr) return;
  const auto remedies = finding_for(*waiting, failed.place, "", log, diagnosis).remedies;
  // A known failure has remedies of its own; those come first.
  const bool is_known = failed.kind <= SignatureClass::generic && failed.id != python_exception_id;
  const bool has_place = !failed.remedies.empty() && failed.remedies.front().starts_with("sed ");
  const auto at = is_known ? failed.remedies.end() : failed.remedies.begin() + (has_place ? 1 : 0);
  failed.remedies.insert(at, remedies.begin(), remedies.end());
}

// A process that cannot make its threads ends, and the others wait for it, however much they print before
// that.
bool ends_at_thread_limit(const Finding& finding) {
  const auto& ids = thread_limit_ids;
  return !finding.evidence.empty() && std::find(std::begin(ids), std::end(ids), finding.id) != std::end(ids);
}

bool is_standstill(const Finding& finding) { return finding.id == still_end_id || is_stall(finding); }

// One rank failed just before the output ended: the others waited for it until the limit.
void promote_error_before_limit(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto ends_job = [&](const Finding& finding) {
    const bool is_still = is_standstill(finding);
    return finding.kind <= SignatureClass::ending && (is_still || is_time_limit(finding, log.signatures));
  };
  const auto end = std::find_if(findings.begin(), findings.end(), ends_job);
  if (end == findings.end()) return;
  const Finding limit = *end;
  const bool stands_still = is_standstill(limit);
  const auto fails = [&](const Finding& finding) {
    if (stands_still && ends_at_thread_limit(finding)) return true;
    if (finding.kind > SignatureClass::generic || finding.is_survived || finding.evidence.empty() ||
        ends_job(finding) || (!stands_still && is_behind_limit(finding, limit)))
      return false;
    const LogLine& last = finding.evidence.back();
    return lines_to_end(last.source, last.line, limit, log).value_or(most_between + 1) <= most_between;
  };
  const auto fails_first = [&](const Finding& finding) {
    const Signature* known = find_signature(log.signatures, finding.id);
    return fails(finding) && (known == nullptr || !known->may_follow);
  };
  auto known = std::find_if(findings.begin(), findings.end(), fails_first);
  if (known == findings.end()) known = std::find_if(findings.begin(), findings.end(), fails);
  if (known != findings.end()) {
    if (known > end)
      std::rotate(findings.begin(), known, known + 1);
    else if (known != findings.begin())
      return;
    findings.front().is_survived = false;
    findings.front().kind = std::min(findings.front().kind, SignatureClass::generic);
    add_waiting(findings.front(), limit, log, diagnosis);
    return;
  }
  if (end != findings.begin()) return;
  std::vector<SalientLine> before;
  for (const SalientLine& line : log.salient.kept()) {
    // What the batch system prints as it ends the job is no error of a rank.
    if (is_of_scheduler(line.line.text)) continue;
    const auto left = lines_to_end(log.sources[line.source], line.line.line, limit, log);
    if (left.value_or(most_behind_words + 1) <= most_behind_words) before.push_back(line);
  }
  const SalientLine* line = most_telling(before, min_failure_score);
  const Signature* error = line == nullptr ? nullptr : error_class(log.signatures, error_headline(*line));
  if (error == nullptr || error->may_follow || error->id == time_limit_id) return;
  Finding failed = likely_finding(*line, *error, log, diagnosis);
  add_waiting(failed, limit, log, diagnosis);
  findings.insert(findings.begin(), std::move(failed));
}

}  // namespace

bool is_stall(const Finding& finding) {
  return finding.id == stall_id || finding.id == partial_stall_id || finding.id == awaited_id;
}

bool is_time_limit(const Finding& finding, const SignatureSet& signatures) {
  return is_of_class(finding.title, time_limit_id, signatures) ||
         (!finding.evidence.empty() && is_of_class(finding.evidence.front().text, time_limit_id, signatures));
}

void promote_limit_cause(Diagnosis& diagnosis, const LogFacts& log) {
  promote_limit(diagnosis, log);
  demote_crashes(diagnosis, log);
  promote_stall(diagnosis, log);
  add_still_end(diagnosis, log);
  promote_error_before_limit(diagnosis, log);
}

}  // namespace ddlrun::diagnose
