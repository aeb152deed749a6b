// SPDX-License-Identifier: MIT
#include "cli/diagnose_input.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/run_ids.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/diagnose/time_limit_cause.hpp"
#include "launch/history/run_store.hpp"
#include "launch/monitor/rank_files.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::cli {

namespace {

using diagnose::LogSource;
using diagnose::RunStatus;

// How it stands, by its scheduler; as last seen where that does not answer.
schedulers::JobStatus read_state(System& system, const schedulers::JobRef& job) {
  schedulers::UnreachableSchedulers unreachable;
  auto state =
      schedulers::read_job_states(system, {job}, unreachable, schedulers::NodeList::left_out).front();
  schedulers::warn_of_unreachable(system, unreachable);
  if (!state.exit_status && is_over(job.last.state)) state.exit_status = job.last.exit_status;
  return state;
}

std::vector<std::string> logs_of(System& system, const schedulers::JobRef& job) {
  std::vector<std::string> logs;
  for (const std::string& log : {job.output, job.error_output, schedulers::spool_log(system, job)})
    if (!log.empty() && system.files.exists(log)) logs.push_back(log);
  return logs;
}

// Of the newest run of the job.
std::optional<launch::StandingRun> find_standing_run_of(System& system, const schedulers::JobRef& job) {
  const auto runs = read_job_runs(system, job);
  return runs.empty() ? std::nullopt : launch::find_standing_run(system, runs.back().directory);
}

// Of a job that is over: what launch printed into the log at the end of its last run, where the job ended by
// it: submit printed that too. An end that the scheduler reports is read with the log.
void take_record_of_run(System& system, const schedulers::JobRef& job, const schedulers::JobStatus& state,
                        DiagnoseInput& input) {
  if (!input.job->end.empty()) return;
  const auto runs = read_job_runs(system, job);
  if (runs.empty()) return;
  const std::string& directory = runs.back().directory;
  const launch::RunRecord run = launch::read_run(system, directory, false);
  if (!run.end || (state.exit_status && *state.exit_status != run.end->exit_status)) return;
  input.recorded = run.diagnosis;
  input.cause_is_recorded = run.cause_is_known;
  input.recorded_in = directory + "/run.json";
}

// Its logs, as `ddlrun logs` finds them, its exit status, and how its scheduler says that it ended. Of an
// array, those of the first task that failed.
DiagnoseInput read_job(System& system, schedulers::JobRef job, RunStatus end) {
  schedulers::JobStatus state = read_state(system, job);
  const std::string task = schedulers::telling_task(state.tasks);
  if (const auto part = task.empty() ? std::nullopt : schedulers::find_remembered_job(system, task)) {
    system.err(fmt::format("ddlrun: of job {}: task {}\n", printable(job.id), printable(task)));
    job = *part;
    state = read_state(system, job);
  }
  DiagnoseInput input{
      logs_of(system, job), end, {}, {}, job.dir, schedulers::job_context(system, job, state)};
  if (job.submitted_here()) input.submitted = job;
  const bool has_log = !job.output.empty() || !job.error_output.empty();
  input.end.names_ranks = input.job->names_ranks;
  if (input.logs.empty() && input.job->end.empty()) {
    if (!has_log) throw Error(ErrorKind::request, schedulers::why_no_log(system, job, "diagnose"));
    throw Error(ErrorKind::request, schedulers::no_output(system, job, state));
  }
  if (is_over(state.state))
    take_record_of_run(system, job, state, input);
  else
    input.standing = find_standing_run_of(system, job);
  if (end.status) return input;
  if (is_over(state.state)) input.end.status = state.exit_status;
  if (!input.end.status) input.end.status = schedulers::read_exit_status(system, job);
  if (end.from == LogSource::unknown) input.end.from = schedulers::log_source_of(job.scheduler);
  return input;
}

// The job that the run belongs to, by its record or its directory: the id of a job without a scheduler is
// longer than in the record. Of plain qsub or sbatch, a job whose log is there.
std::optional<schedulers::JobRef> find_job_of(System& system, const launch::ListedRun& run) {
  constexpr std::size_t most_recent = 100;
  std::string id;
  try {
    id = launch::read_run(system, run.directory, false).job;
    auto job = id.empty() ? std::nullopt : schedulers::find_remembered_job(system, id);
    if (job && job->id == id) return job;
  } catch (const Error&) {
    return std::nullopt;  // a damaged record: the run itself is refused with its reason
  }
  for (const auto& [job, state] : schedulers::remembered_jobs(system, most_recent))
    if (run.directory.starts_with(job.dir + "/")) return job;
  auto plain = id.empty() ? std::nullopt : find_plain_batch_job(system, id);
  return plain && !logs_of(system, *plain).empty() ? std::move(plain) : std::nullopt;
}

// By `last`, the newest job is meant, unless a run is newer or the job has no output yet. Of a run in a job,
// the job.
std::optional<schedulers::JobRef> find_meant_job(System& system, const std::string& word) {
  auto job = schedulers::find_remembered_job(system, word);
  if (word != "last") return job;
  const auto runs = launch::list_runs(system);
  if (runs.empty()) return job;
  if (!job) return find_job_of(system, runs.front());
  std::string submitted;  // "2026-11-25 22:32:37" -> "20261125-223237", as the id of a run begins
  for (const char c : job->submitted)
    if (c != '-' && c != ':') submitted += c == ' ' ? '-' : c;
  const bool has_ended = is_over(job->last.state) || system.files.exists(job->output);
  if (runs.front().id < submitted && has_ended) return job;
  return find_job_of(system, runs.front());
}

// Its ranks' own files do not name hosts; its record does.
diagnose::Diagnosis name_hosts_of_run(System& system, const DiagnoseInput& input,
                                      diagnose::Diagnosis diagnosis) {
  const std::vector<launch::RunRank> ranks = launch::read_run(system, input.directory, true).ranks;
  return with_hosts(std::move(diagnosis), [&ranks](std::uint32_t rank) {
    const auto found = std::ranges::find(ranks, rank, &launch::RunRank::rank);
    return found == ranks.end() ? std::string() : found->host;
  });
}

// The note of launch is harmless in a log. Of a run that stands still now, it is the cause.
diagnose::Diagnosis name_stall(diagnose::Diagnosis diagnosis) {
  auto& findings = diagnosis.also_seen;
  const auto stall = std::ranges::find_if(findings, diagnose::is_stall);
  if (diagnosis.cause || stall == findings.end()) return diagnosis;
  diagnosis.cause = *stall;
  findings.erase(stall);
  diagnosis.verdict = diagnose::Verdict::cause_found;
  return diagnosis;
}

// As launch printed them, for the signatures of its notes; empty where it did not end the run at a stall.
std::vector<std::string> stall_lines_of(const launch::RunRecord& run) {
  if (!run.watched || run.watched->stall.empty()) return {};
  return {fmt::format("ddlrun: {}: {}", run.watched->stall_severity, run.watched->stall),
          "ddlrun: the job is ended, as --on-stall end asks"};
}

// The record has no lines that a user could count.
void forget_line_numbers(std::vector<diagnose::LogLine>& lines, const std::string& record) {
  for (diagnose::LogLine& line : lines)
    if (line.source == record) line.line = 0;
}

// What is known of a run beside its logs: the hosts, what failed first, the program.
diagnose::Diagnosis fit_to_run(System& system, const DiagnoseInput& input, diagnose::Diagnosis diagnosis) {
  diagnosis = name_hosts_of_run(system, input, std::move(diagnosis));
  diagnose::JobContext run;
  run.program = input.program;
  run.nodes = input.hosts;
  if (input.hosts > 0 && input.end.ranks % input.hosts == 0)
    run.ranks_per_node = input.end.ranks / input.hosts;
  diagnosis = fit_to_job(std::move(diagnosis), run, *diagnose::builtin_signatures());
  diagnosis = diagnose::without_ssh_to_self(std::move(diagnosis), [&system](const std::string& host) {
    return topology::is_this_host(system.environment, host);
  });
  const std::string record = record_of(input);
  if (diagnosis.cause) forget_line_numbers(diagnosis.cause->evidence, record);
  if (diagnosis.cause) forget_line_numbers(diagnosis.cause->following, record);
  for (diagnose::Finding& finding : diagnosis.also_seen) forget_line_numbers(finding.evidence, record);
  forget_line_numbers(diagnosis.salient_lines, record);
  if (diagnosis.first_failing && diagnosis.first_failing->evidence.source == record)
    diagnosis.first_failing->evidence.line = 0;
  return diagnosis;
}

}  // namespace

std::string record_of(const DiagnoseInput& input) { return input.directory + "/run.json"; }

DiagnoseInput read_run_directory(System& system, const std::string& directory, RunStatus end) {
  const launch::RunRecord run = launch::read_run(system, directory, false);
  DiagnoseInput input{{}, end, run.diagnosis, run.last_lines, directory, {}};
  input.cause_is_recorded = run.cause_is_known;
  input.recorded_in = record_of(input);
  input.end.of_launch = true;
  if (run.end && !end.status) {
    input.end.status = run.end->exit_status;
    if (end.from == LogSource::unknown && run.launcher == "openmpi") input.end.from = LogSource::mpirun;
  }
  input.program = run.program;
  input.hosts = static_cast<std::uint32_t>(run.hosts.size());
  input.stall_lines = stall_lines_of(run);
  input.end.ranks = static_cast<std::uint32_t>(run.rank_count);
  input.end.names_ranks = !run.output.empty() && run.output != "screen";
  const launch::RunFailure* first = run.first_failure();
  input.end.is_first_unsure = first != nullptr && (!first->with.empty() || first->alike > 0);
  if (first != nullptr && !input.end.is_first_unsure) {
    input.end.first_rank = first->rank;
    input.end.is_of_first_rank = input.end.status && first->exit_status == *input.end.status;
    const std::string how = first->signal != 0 ? fmt::format("signal {}", first->signal)
                            : first->exit_status != 0 && first->absence.empty()
                                ? fmt::format("exit status {}", first->exit_status)
                                : first->words();
    input.first_failing = diagnose::FailingRank{
        {first->rank, first->host}, how, {directory + "/run.json", 0, "\"first_failure\""}};
  }
  if (!run.end) input.standing = launch::find_standing_run(system, directory);
  if (launch::find_run_state(system, run) == launch::RunState::unseen) input.unseen_run = run.id;
  for (std::uint32_t rank = 0; rank < run.rank_count; ++rank) {
    for (const auto stream : {launch::RankStream::out, launch::RankStream::err}) {
      std::string file = launch::rank_file(directory, rank, stream);
      if (system.files.exists(file)) input.logs.push_back(std::move(file));
    }
  }
  return input;
}

DiagnoseInput read_job_or_run(System& system, const std::string& word, RunStatus end) {
  if (const auto job = find_meant_job(system, word)) return read_job(system, *job, end);
  std::string directory;
  try {
    directory = launch::find_run_directory(system, word);
  } catch (const Error& error) {
    if (const auto foreign = find_plain_job(system, word)) return read_job(system, *foreign, end);
    throw Error(error.kind(),
                {fmt::format("'{}' is no file and no job: {}", printable(word, 60), error.message().what), "",
                 "ddlrun jobs, ddlrun history: their ids; or ddlrun diagnose job.log"});
  }
  return read_run_directory(system, directory, end);
}

diagnose::Diagnosis complete_diagnosis(System& system, const DiagnoseInput& input,
                                       diagnose::Diagnosis diagnosis) {
  if (input.standing) diagnosis = name_stall(std::move(diagnosis));
  if (!input.directory.empty() && !input.job) diagnosis = fit_to_run(system, input, std::move(diagnosis));
  if (input.first_failing) diagnosis.first_failing = input.first_failing;
  if (input.job) diagnosis = fit_to_job(std::move(diagnosis), *input.job, *diagnose::builtin_signatures());
  if (!diagnosis.cause || diagnosis.cause->id != diagnose::nothing_started_id) return diagnosis;
  const auto words = input.submitted
                         ? schedulers::read_script_words(system, *input.submitted)
                         : schedulers::read_script_words(system, diagnosis.cause->evidence.front().source);
  if (words.first.empty()) return diagnosis;
  constexpr std::string_view checks_lead = ": nothing is started: ";
  const std::size_t checks = words.first.find(checks_lead);
  const bool names_checks = checks != std::string::npos;
  diagnosis.cause->title = "the job script started nothing: " +
                           (names_checks ? words.first.substr(checks + checks_lead.size()) : words.first);
  // With its own remedy a check is mended; whether --doctor warn helps is known there too.
  auto& remedies = diagnosis.cause->remedies;
  if (names_checks) remedies.resize(1);
  remedies.insert(remedies.begin(), words.remedies.begin(), words.remedies.end());
  return diagnosis;
}

}  // namespace ddlrun::cli
