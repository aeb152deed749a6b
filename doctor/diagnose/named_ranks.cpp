// SPDX-License-Identifier: MIT
#include "doctor/diagnose/named_ranks.hpp"

#include "base/text/text.hpp"

#include <algorithm>
#include <set>

namespace ddlrun::diagnose {

// Both ranks that the line names.
void add_other_rank(Finding& cause) {
  constexpr std::string_view lead = "rank ";
  if (!is_call_mismatch(cause) || cause.evidence.empty()) return;
  const std::string_view line = cause.evidence.front().text;
  std::set<std::uint32_t> ranks;
  for (std::size_t at = line.find(lead); at != line.npos; at = line.find(lead, at + 1)) {
    const std::string_view rest = line.substr(at + lead.size());
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    const auto rank = parse_unsigned(digits, 99'999'999);
    if (rank && rest.substr(digits.size()).starts_with(" (")) ranks.insert(static_cast<std::uint32_t>(*rank));
  }
  cause.all_ranks.assign(ranks.begin(), ranks.end());
}

bool is_missed_rank(const Finding& finding) {
  constexpr std::string_view ids[] = {"O16", "O30", "O31", "O32", "O34"};
  return std::find(std::begin(ids), std::end(ids), finding.id) != std::end(ids);
}

bool stands_still(const Finding& finding) { return finding.id == "O16"; }

namespace {

// The other ranks still wait for that of O16.
bool names_gone_rank(const Finding& finding) {
  const bool counts = finding.kind <= SignatureClass::ending && !finding.is_survived;
  return counts && is_missed_rank(finding) && !stands_still(finding) && finding.place.rank;
}

}  // namespace

const Finding* find_gone_rank(const std::vector<Finding>& findings) {
  const auto found = std::ranges::find_if(findings, names_gone_rank);
  return found == findings.end() ? nullptr : &*found;
}

const Finding* find_gone_rank(const Diagnosis& diagnosis) {
  if (diagnosis.cause && names_gone_rank(*diagnosis.cause)) return &*diagnosis.cause;
  return find_gone_rank(diagnosis.also_seen);
}

bool left_first(const Finding& finding) { return finding.id == "E4" || is_missed_rank(finding); }

bool is_call_mismatch(const Finding& finding) { return finding.id == "O6" || finding.id == "O11"; }

}  // namespace ddlrun::diagnose
