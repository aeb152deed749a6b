// SPDX-License-Identifier: MIT
#include "doctor/diagnose/collective_cause.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/conclusion.hpp"
#include "doctor/diagnose/log_finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

namespace {

std::string ranks_in_words(const std::vector<std::uint32_t>& ranks) {
  const std::vector<int> numbers(ranks.begin(), ranks.end());
  return (ranks.size() == 1 ? "rank " : "ranks ") + render_ranges(numbers);
}

// Ranks that wait in different collectives: more specific than a collective that did not end in time.
void add_mismatch(std::vector<Finding>& findings, std::vector<Finding>::iterator timeout, const LogFacts& log,
                  const Diagnosis& diagnosis) {
  const auto mismatch = log.collectives.mismatch();
  const Signature* signature = find_signature(log.signatures, collective_mismatch_id);
  if (!mismatch || signature == nullptr) return;
  Finding finding =
      finding_for(*signature, {mismatch->rank, log.matches.host_of(mismatch->rank)}, "", log, diagnosis);
  finding.kind = SignatureClass::generic;
  finding.title += ": " + mismatch->text;
  finding.evidence.push_back(
      {log.sources[mismatch->source], mismatch->evidence.line, mismatch->evidence.text});
  findings.insert(timeout, std::move(finding));
}

// Where all ranks wait in the same call, none of them is the suspect: the one that is missing prints nothing.
void name_late_ranks(Finding& timeout, const LogFacts& log) {
  const auto report = log.collectives.report();
  if (!report) return;
  timeout.all_ranks = report->ranks;
  timeout.evidence = {{log.sources[report->source], report->first.line, report->first.text}};
  timeout.following.clear();
  const bool is_suspect_known = !report->behind.empty();
  timeout.place = {};
  if (is_suspect_known || report->ranks.size() == 1) {
    timeout.place.rank = is_suspect_known ? report->behind.front() : report->ranks.front();
    timeout.place.host = log.matches.host_of(*timeout.place.rank);
  }
  if (is_suspect_known) {
    timeout.cause +=
        fmt::format(" The suspect is {}: the SeqNum is the lowest.", ranks_in_words(report->behind));
    timeout.remedies.insert(timeout.remedies.begin(),
                            "look at the output of " + ranks_in_words(report->behind));
  } else if (!report->silent.empty()) {
    timeout.cause += fmt::format(" Not in the log: {}.", ranks_in_words(report->silent));
    timeout.remedies.insert(timeout.remedies.begin(),
                            "look at the output of " + ranks_in_words(report->silent));
  }
}

}  // namespace

void add_collective_cause(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const auto timeout = std::ranges::find_if(
      findings, [](const Finding& finding) { return finding.id == collective_timeout_id; });
  if (timeout == findings.end()) return;
  name_late_ranks(*timeout, log);
  add_mismatch(findings, timeout, log, diagnosis);
}

}  // namespace ddlrun::diagnose
