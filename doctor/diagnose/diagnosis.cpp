// SPDX-License-Identifier: MIT
#include "doctor/diagnose/diagnosis.hpp"

namespace ddlrun::diagnose {

bool is_sure(const Diagnosis& diagnosis) {
  return diagnosis.verdict == Verdict::cause_found && diagnosis.cause->kind <= SignatureClass::generic;
}

int exit_code(const Diagnosis& diagnosis) { return diagnosis.verdict == Verdict::no_trouble ? 0 : 1; }

Diagnosis with_hosts(Diagnosis diagnosis, const std::function<std::string(std::uint32_t)>& host_of) {
  const auto complete = [&](Place& place) {
    if (place.rank && place.host.empty()) place.host = host_of(*place.rank);
  };
  if (diagnosis.cause) complete(diagnosis.cause->place);
  for (Finding& finding : diagnosis.also_seen) complete(finding.place);
  if (diagnosis.first_failing) complete(diagnosis.first_failing->place);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
