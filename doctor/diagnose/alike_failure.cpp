// SPDX-License-Identifier: MIT
#include "doctor/diagnose/alike_failure.hpp"

namespace ddlrun::diagnose {

bool is_of_all(const RanksAlike& alike, std::uint32_t ranks_of_run, const LogFacts& log) {
  if (ranks_of_run < 2) return false;
  if (!alike.ranks.empty()) return alike.ranks.size() == ranks_of_run;
  return log.matches.ranks_alike() == ranks_of_run && alike.count >= ranks_of_run;
}

void mark_alike_failures(Diagnosis& diagnosis, const LogFacts& log) {
  if (diagnosis.end.ranks == 0) diagnosis.end.ranks = log.matches.ranks_alike();
  for (Finding& finding : diagnosis.also_seen) {
    const RanksAlike alike{{finding.all_ranks.begin(), finding.all_ranks.end()}, finding.count};
    finding.fails_alike = finding.is_same_of_ranks && is_of_all(alike, diagnosis.end.ranks, log);
  }
}

}  // namespace ddlrun::diagnose
