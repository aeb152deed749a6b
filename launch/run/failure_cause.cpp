// SPDX-License-Identifier: MIT
#include "launch/run/failure_cause.hpp"

#include "doctor/diagnose/exception_cause.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "launch/monitor/exit_banner.hpp"
#include "launch/monitor/rank_files.hpp"
#include "launch/run/run_remedies.hpp"
#include "launch/run/unexplained_end.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

// "" where the framework has none.
std::string master_port_of(const frameworks::FrameworkPlan& framework) {
  const auto found = std::ranges::find(framework.shared, "MASTER_PORT", &frameworks::SharedVariable::name);
  return found == framework.shared.end() ? "" : found->value;
}

// What is known without a cause in the output.
void conclude_unexplained(const diagnose::Diagnosis& found, const LaunchRun& run,
                          const FailureContext& context, FailureCause& cause) {
  UnexplainedEnd end;
  end.status = context.status;
  end.first = context.first;
  end.hosts = run.plan.placed.job.hosts;
  end.last_lines = context.last_lines;
  if (context.first && run.spec.output.writes_files())
    end.rank_file = rank_file(run.run_dir, context.first->rank, RankStream::err);
  end.is_alone = found.only_consequences ||
                 (found.errors_are_consequences && context.knows_ranks && context.last_lines.empty());
  for (const diagnose::LogLine& line : found.salient_lines)
    if (line.text != context.report && !diagnose::is_boilerplate(line.text) && !is_report_of_end(line.text))
      end.error_lines.push_back(line.text);
  if (found.errors_are_consequences && !end.is_alone && !context.record.left_early.empty()) {
    end.left = context.record.left_early;
    end.left_host = host_finder(run.plan.placed.job.ranks)(end.left.front());
    cause.missed_rank = diagnose::Place{end.left.front(), end.left_host};
  }
  cause.is_known = !end.left.empty();
  cause.text = render_unexplained_end(end);
}

// It failed in the same second as `first`, or had not ended by itself when the launcher ended the others.
bool may_precede_first(std::uint32_t rank, const FailureContext& context) {
  if (std::ranges::find(context.record.failed_with, rank, &RankEnd::rank) != context.record.failed_with.end())
    return true;
  const auto end = context.record.ends.find(rank);
  return end == context.record.ends.end() || is_ended_by_launcher(end->second);
}

// The cause is what this rank printed, and the first that ended has an error of its own that follows from it.
bool shows_first(const diagnose::Finding& cause, const FailureContext& context) {
  const bool is_exception = cause.id == diagnose::python_exception_id;
  const bool is_silent = context.knows_ranks && context.last_lines.empty();
  if (!is_exception || is_silent || !context.names_ranks || !cause.place.rank) return false;
  const bool is_of_first = std::ranges::find(cause.all_ranks, context.first->rank) != cause.all_ranks.end();
  return !is_of_first && may_precede_first(*cause.place.rank, context);
}

// The order in which ends are reported is not that of the failures: what the output shows counts more.
void find_first(const diagnose::Diagnosis& found, const FailureContext& context, FailureCause& cause) {
  const diagnose::Finding& top = *found.cause;
  const diagnose::Finding* gone = diagnose::find_gone_rank(found);
  if (diagnose::is_call_mismatch(top)) {
    cause.mismatched_ranks = top.all_ranks;
  } else if (diagnose::left_first(top) && top.place.rank) {
    cause.missed_rank = top.place;
    cause.missed_stood_still = diagnose::stands_still(top);
  } else if (gone != nullptr) {
    cause.missed_rank = gone->place;
  } else if (top.fails_alike) {
    cause.fails_alike = context.first && !cause.trainer_refused;
  } else if (context.first && shows_first(top, context)) {
    cause.missed_rank = top.place;
  } else if (context.first && !cause.trainer_refused) {
    const bool exited = context.first->signal == 0 && context.first->start_error == 0;
    const bool is_explained = top.kind <= diagnose::SignatureClass::likely;
    cause.is_shared = exited && is_explained && !top.place.rank && !context.record.failed_with.empty();
  }
}

// By its exit status, or by SIGABRT, with which runtimes end a process after an exception.
bool ended_itself(const RankReport& first) {
  return first.start_error == 0 && (first.signal == 0 || first.signal == SIGABRT);
}

}  // namespace

diagnose::RunStatus run_status_of(const LaunchRun& run, int status, const std::optional<RankReport>& first,
                                  bool is_unsure) {
  const bool is_open_mpi = run.plan.placed.kind() == LauncherKind::open_mpi;
  diagnose::RunStatus end{status, is_open_mpi ? diagnose::LogSource::mpirun : diagnose::LogSource::unknown,
                          true};
  end.names_ranks = run.spec.output.is_framed() || run.spec.launcher.words.tag_output;
  if (first) end.first_rank = first->rank;
  end.is_of_first_rank = first && first->exit_status == status;
  end.is_first_unsure = is_unsure;
  end.ranks = static_cast<std::uint32_t>(run.plan.placed.job.ranks.size());
  return end;
}

FailureCause conclude_failure(diagnose::Diagnosis found, const LaunchRun& run,
                              const FailureContext& context) {
  FailureCause cause;
  cause.was_printed = context.launcher_died;
  // The log of a crash of mpirun reads like that of a rank's, except where the stack names mpirun.
  if (context.launcher_died && (!found.cause || found.cause->id != diagnose::launcher_crash_id)) return cause;
  found = diagnose::with_hosts(std::move(found), host_finder(run.plan.placed.job.ranks));
  // General rules choose a line even where all of them notice that another rank left.
  const bool is_consequence = found.errors_are_consequences && !context.record.left_early.empty() &&
                              found.cause && found.cause->kind == diagnose::SignatureClass::likely;
  if (!found.cause || is_consequence) {
    if (!context.launcher_died) conclude_unexplained(found, run, context, cause);
    return cause;
  }
  cause.trainer_refused = found.cause->id == diagnose::trainer_error_id && context.trainer_printed;
  cause.was_printed = found.cause->id == diagnose::own_error_id || cause.trainer_refused;
  // What ended the first rank is not what all of them printed before.
  if (context.first && !ended_itself(*context.first)) found.cause->fails_alike = false;
  find_first(found, context, cause);
  if (cause.missed_rank || cause.is_shared)
    std::erase_if(found.also_seen, [&](const diagnose::Finding& one) {
      return !one.evidence.empty() && one.evidence.front().text == context.report;
    });
  // The supervisors report which rank ended first; the log only which end was printed first.
  if (context.first) found.first_failing.reset();
  std::erase_if(found.salient_lines,
                [&](const diagnose::LogLine& line) { return line.text == context.report; });
  const std::string& host = found.cause->place.host;
  found.cause->remedies =
      fit_remedies(found.cause->remedies, {run.plan.placed.kind(), run.plan.placed.job.hosts,
                                           host.empty() && context.first ? context.first->host : host,
                                           context.in_job, master_port_of(run.plan.environment.framework)});
  if (context.is_here) found = diagnose::without_ssh_to_self(std::move(found), context.is_here);
  cause.is_known = true;
  cause.text = diagnose::render_diagnosis(found);
  return cause;
}

}  // namespace ddlrun::launch
