// SPDX-License-Identifier: MIT
#include "doctor/diagnose/status_causes.hpp"

#include "doctor/diagnose/log_finding.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

namespace {

bool fact_holds(const FactRule& fact, const Signature& signature, const LogFacts& log,
                const Diagnosis& diagnosis) {
  const auto& end = diagnosis.end;
  // PBS's negative statuses are its own codes, not signals.
  if (end.from == LogSource::pbs && end.status.value_or(0) < 0 && fact.from.empty()) return false;
  std::uint64_t noise = 0;
  for (const Finding& finding : diagnosis.also_seen)
    noise += finding.kind == SignatureClass::benign ? finding.count : 0;
  const bool is_silent = log.last_lines.empty() || diagnosis.lines <= noise;
  // A signal in the status is not the cause where the log has a likely explanation, even an unknown one.
  const bool by_status_alone = !fact.log_is_empty && fact.last_line_has.empty();
  const bool is_explained = log.salient.highest_score() >= min_explaining_score;
  const bool gives_no_reason = signature.kind >= SignatureClass::fact || signature.may_follow;
  if (gives_no_reason && by_status_alone && is_explained) return false;
  if (fact.log_is_empty && !is_silent) return false;
  if (!fact.last_line_has.empty() &&
      (log.last_lines.empty() || log.last_lines.back().text.find(fact.last_line_has) == std::string::npos))
    return false;
  if (!fact.from.empty() && log_source_named(fact.from) != end.from) return false;
  const auto& all = fact.statuses;
  return all.empty() || (end.status && std::find(all.begin(), all.end(), *end.status) != all.end());
}

constexpr int reached_limit_status = 124;  // of timeout(1), and of launch with --on-stall end
constexpr std::string_view last_sign_id = "F47";

}  // namespace

void add_last_sign_of_life(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const Signature* known = find_signature(log.signatures, last_sign_id);
  const bool is_explained = !findings.empty() && findings.front().kind <= SignatureClass::ending;
  const bool shows_error = log.salient.highest_score() >= min_doubtful_score;
  if (diagnosis.end.status != reached_limit_status || known == nullptr || is_explained || shows_error ||
      log.last_lines.empty())
    return;
  Finding finding = finding_for(*known, {}, "", log, diagnosis);
  finding.kind = SignatureClass::fact;
  finding.title += ": " + log.last_lines.back().text;
  finding.evidence.push_back(log.last_lines.back());
  insert_before(findings, SignatureClass::ending, std::move(finding));
}

void add_status_causes(Diagnosis& diagnosis, const LogFacts& log) {
  // Where a rank exited with a status, the launcher ended the other ranks: their signal is not the cause.
  const auto ended = log.matches.first_failed_rank(log.sources);
  const bool by_status = ended && ended->how.starts_with("exit status ");
  // A message names who ended the job, its status only the signal.
  const auto& findings = diagnosis.also_seen;
  const bool is_ended = std::any_of(findings.begin(), findings.end(), is_end_from_outside);
  for (const Signature& signature : log.signatures.signatures) {
    if ((by_status || is_ended) && signature.kind == SignatureClass::fact) continue;
    const bool holds = std::any_of(signature.facts.begin(), signature.facts.end(), [&](const FactRule& fact) {
      return fact_holds(fact, signature, log, diagnosis);
    });
    if (!holds) continue;
    const auto known = [&](const Finding& finding) { return finding.id == signature.id; };
    if (std::any_of(diagnosis.also_seen.begin(), diagnosis.also_seen.end(), known)) continue;
    Finding finding = finding_for(signature, ended ? ended->place : Place(), "", log, diagnosis);
    finding.kind = SignatureClass::fact;
    // The message on the signal shows it; lines of other ranks are its consequences.
    if (ended && ended->how.starts_with("signal "))
      finding.evidence.push_back(ended->evidence);
    else
      for (const auto& found : log.salient.best(4))
        finding.evidence.push_back(in_source(found.line, log, found.source));
    insert_before(diagnosis.also_seen, SignatureClass::ending, std::move(finding));
  }
}

}  // namespace ddlrun::diagnose
