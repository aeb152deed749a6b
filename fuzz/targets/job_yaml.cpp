// SPDX-License-Identifier: MIT
// ddlrun.yaml through the YAML tree, the job and the script of each scheduler: every refusal is a message,
// and no value of the user's begins a line of the script.
#include "base/text/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "schedulers/job/job_settings_text.hpp"
#include "schedulers/job/scheduler.hpp"
#include "schedulers/job/site_rules.hpp"

#include <algorithm>
#include <iterator>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

// Without the places.
bool same_value(const YamlValue& one, const YamlValue& other) {
  return one.kind == other.kind && one.text == other.text &&
         std::equal(one.items.begin(), one.items.end(), other.items.begin(), other.items.end(), same_value) &&
         std::equal(one.fields.begin(), one.fields.end(), other.fields.begin(), other.fields.end(),
                    [](const YamlField& a, const YamlField& b) {
                      return a.key == b.key && same_value(a.value, b.value);
                    });
}

}  // namespace

DDLRUN_FUZZ_TARGET(job_yaml) {
  constexpr SchedulerKind kinds[] = {SchedulerKind::local, SchedulerKind::slurm, SchedulerKind::pbs,
                                     SchedulerKind::torque};
  const SchedulerKind kind = kinds[fuzz::take_byte(input) % std::size(kinds)];
  std::vector<Message> errors;
  auto settings = fuzz::accepted([&] { return read_job_settings(input, "ddlrun.yaml", errors); });
  if (!settings) return;
  settings->insert_or_assign(
      "scheduler", flag_setting("scheduler", std::string(make_scheduler(kind)->name()), "--scheduler"));
  const ParsedJob parsed = read_job(*settings);
  errors.insert(errors.end(), parsed.errors.begin(), parsed.errors.end());
  for (const Message& error : errors) fuzz::require_message(error);
  for (const std::string& remark : parsed.remarks) fuzz::require_printable(remark);
  if (!errors.empty()) return;
  const std::string text = render_job_settings(*settings);
  const JobSettings again = read_job_settings(text, "job.yaml", errors);
  const bool same = std::equal(
      settings->begin(), settings->end(), again.begin(), again.end(), [](const auto& one, const auto& other) {
        return one.first == other.first && same_value(one.second.value, other.second.value);
      });
  fuzz::require(same && errors.empty(), "settings are read as written", text);
  const auto script = fuzz::accepted(
      [&] { return make_scheduler(kind)->render(parsed.job, JobDirectory{"/home/u/job"}, {}); });
  if (!script) return;
  for (const std::string& directive : script->directives)
    fuzz::require(printable(directive, SIZE_MAX) == directive, "a directive is one line", directive);
}
