// SPDX-License-Identifier: MIT
#include "launch/run/failure_cause.hpp"

#include "doctor/diagnose/salient_lines.hpp"
#include "launch/monitor/exit_banner.hpp"
#include "launch/run/run_remedies.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::string_view launcher_crash_id = "E28";

// "" where the framework has none.
std::string master_port_of(const frameworks::FrameworkPlan& framework) {
  const auto found = std::ranges::find(framework.shared, "MASTER_PORT", &frameworks::SharedVariable::name);
  return found == framework.shared.end() ? "" : found->value;
}

}  // namespace

FailureCause conclude_failure(diagnose::Diagnosis found, const LaunchRun& run,
                              const FailureContext& context) {
  FailureCause cause;
  cause.was_printed = context.launcher_died;
  // The log of a crash of mpirun reads like that of a rank's, except where the stack names mpirun.
  if (context.launcher_died && (!found.cause || found.cause->id != launcher_crash_id)) return cause;
  found = diagnose::with_hosts(std::move(found), host_finder(run.plan.placed.job.ranks));
  if (!found.cause) {
    cause.first_is_alone = found.only_consequences;
    for (const diagnose::LogLine& line : found.salient_lines)
      if (line.text != context.report && !diagnose::is_boilerplate(line.text) && !is_report_of_end(line.text))
        cause.error_lines.push_back(line.text);
    return cause;
  }
  cause.trainer_refused = found.cause->id == diagnose::trainer_error_id && context.trainer_printed;
  cause.was_printed = found.cause->id == diagnose::own_error_id || cause.trainer_refused;
  if (diagnose::left_first(*found.cause) && found.cause->place.rank) cause.missed_rank = found.cause->place;
  if (diagnose::is_call_mismatch(*found.cause)) cause.mismatched_ranks = found.cause->all_ranks;
  // The supervisors report which rank ended first; the log only which end was printed first.
  if (context.first) found.first_failing.reset();
  std::erase_if(found.salient_lines,
                [&](const diagnose::LogLine& line) { return line.text == context.report; });
  const std::string& host = found.cause->place.host;
  found.cause->remedies =
      fit_remedies(found.cause->remedies, {run.plan.placed.kind(), run.plan.placed.job.hosts,
                                           host.empty() && context.first ? context.first->host : host,
                                           context.in_job, master_port_of(run.plan.environment.framework)});
  cause.text = diagnose::render_diagnosis(found);
  return cause;
}

}  // namespace ddlrun::launch
