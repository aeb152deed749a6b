// SPDX-License-Identifier: MIT
// A user's signatures: a refusal is a message, and what is taken can be listed and used.
#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace ddlrun;
using namespace ddlrun::diagnose;

DDLRUN_FUZZ_TARGET(signatures) {
  auto set = fuzz::accepted([&] { return parse_signatures(input, "mine.yaml"); });
  if (!set) return;
  for (const Signature& signature : set->signatures)
    fuzz::require_printable(render_signature_line(signature) + render_signature(signature));
  std::vector<const Signature*> all;
  for (const Signature& signature : set->signatures) all.push_back(&signature);
  render_signatures_json(all);
  LogAnalysis analysis(std::make_shared<SignatureSet>(std::move(*set)));
  analysis.begin_source("job.log");
  analysis.take(input);
  analysis.end_source();
  fuzz::require_printable(render_diagnosis(analysis.diagnosis({})));
}
