// SPDX-License-Identifier: MIT
// Logs: the diagnosis does not depend on where a block ends, and can be printed.
#include "doctor/diagnose/log_analysis.hpp"

#include "doctor/diagnose/diagnosis_json.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "fuzz/fuzz_target.hpp"

#include <algorithm>
#include <array>
#include <memory>

using namespace ddlrun;
using namespace ddlrun::diagnose;

namespace {

constexpr std::size_t parts = 32;

// Every 32nd signature: an index of all of them takes longer than a log.
std::shared_ptr<const SignatureSet> part_of_signatures(std::size_t part) {
  static std::array<std::shared_ptr<const SignatureSet>, parts> sets;
  if (sets[part]) return sets[part];
  auto set = std::make_shared<SignatureSet>();
  const SignatureSet& all = *builtin_signatures();
  for (std::size_t i = part; i < all.signatures.size(); i += parts)
    set->signatures.push_back(all.signatures[i]);
  set->endings = all.endings;
  return sets[part] = set;
}

Diagnosis analyze(std::string_view log, std::size_t block, const RunStatus& end, std::size_t part) {
  LogAnalysis analysis(part_of_signatures(part));
  analysis.begin_source("job.log");
  for (; !log.empty(); log.remove_prefix(std::min(block, log.size()))) analysis.take(log.substr(0, block));
  analysis.end_source();
  return analysis.diagnosis(end);
}

}  // namespace

DDLRUN_FUZZ_TARGET(log_analysis) {
  RunStatus end;
  const unsigned status = fuzz::take_byte(input);
  if (status != 255) end.status = static_cast<int>(status);
  const std::size_t block = 1 + fuzz::take_byte(input);
  const std::size_t part = fuzz::take_byte(input) % parts;
  const Diagnosis whole = analyze(input, SIZE_MAX, end, part);
  const std::string text = render_diagnosis(whole);
  fuzz::require_printable(text);
  fuzz::require(render_diagnosis_json(analyze(input, block, end, part)) == render_diagnosis_json(whole),
                "the diagnosis does not depend on where a block ends", text);
}
