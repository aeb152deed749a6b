// SPDX-License-Identifier: MIT
#include "schedulers/client/failure_summary.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/launch_end.hpp"
#include "doctor/diagnose/log_analysis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/diagnose/time_limit_cause.hpp"
#include "doctor/site/site_signatures.hpp"
#include "schedulers/client/doctor_words.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_query.hpp"
#include "schedulers/client/stop_reason.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

// The line that `ddlrun launch` prints before its own diagnosis.
constexpr std::string_view launch_diagnosis_line = "ddlrun: what the output says";
constexpr std::size_t last_bytes = 1u << 16;  // in which the script's last words are looked for

// The log's end, and whether it holds a diagnosis.
struct LogEnd {
  std::string last;
  bool has_diagnosis = false;

  void take(std::string_view block) {
    const std::size_t before = std::min(last.size(), launch_diagnosis_line.size());
    has_diagnosis = has_diagnosis || (last.substr(last.size() - before) +
                                      std::string(block.substr(0, launch_diagnosis_line.size())))
                                             .find(launch_diagnosis_line) != std::string::npos;
    has_diagnosis = has_diagnosis || block.find(launch_diagnosis_line) != block.npos;
    last.append(block.substr(block.size() - std::min(block.size(), last_bytes)));
    if (last.size() > last_bytes) last.erase(0, last.size() - last_bytes);
  }
};

// The reason as the user reads it: with the checks that failed, where doctor stopped the job.
void add_reason(const StopReason& reason, std::span<const std::string_view> log, FailureSummary& words) {
  words.first = printable(reason.what, 300);
  words.remedies = {printable(reason.remedy, 300)};
  if (!reason.is_of_doctor()) return;
  const DoctorWords doctor = find_doctor_words(lines_above(log, reason));
  if (doctor.failures.empty()) return;  // a host was not reached
  words.first += ": " + doctor.failures;
  if (doctor.remedy.empty()) return;
  if (!doctor.may_go_on) words.remedies.clear();
  words.remedies.insert(words.remedies.begin(), doctor.remedy);
}

// A program may have printed it.
std::string mark_as_printed(const std::string& remedy) {
  const bool has_comment = remedy.find("   # ") != std::string::npos;
  return remedy + (has_comment ? "; " : "   # ") + "from the log: check it first";
}

// srun's status is the greatest of all ranks, also of those that it ended itself.
std::optional<int> own_status(const diagnose::FailingRank& first) {
  for (const std::string_view lead : {"exit status ", "Exited with exit code "}) {
    if (!first.how.starts_with(lead)) continue;
    const auto number = parse_unsigned(std::string_view(first.how).substr(lead.size()), 255);
    if (number && *number > 0) return static_cast<int>(*number);
  }
  return std::nullopt;
}

// A fact that a log lacks and the scheduler has: the host if there is only one.
void name_host(std::vector<std::string>& remedies, const JobStatus& status) {
  constexpr std::string_view word = "ssh HOST ";
  const bool one_host = !status.hosts.empty() && status.hosts.find_first_of(",[") == std::string::npos;
  if (!one_host) return;
  for (std::string& remedy : remedies) {
    const std::size_t at = remedy.find(word);
    if (at != std::string::npos) remedy.replace(at, word.size(), "ssh " + quote_shell(status.hosts) + " ");
  }
}

void read_source(System& system, const std::string& path, diagnose::LogAnalysis& analysis, LogEnd& end) {
  if (path.empty() || !system.files.exists(path)) return;
  analysis.begin_source(path);
  system.files.read_blocks(path, [&](std::string_view block) {
    analysis.take(block);
    end.take(block);
  });
  analysis.end_source();
}

std::uint64_t size_of(System& system, const std::string& path) {
  try {
    const auto part = path.empty() ? std::nullopt : system.files.read_from(path, 0, 0);
    return part ? part->size : 0;
  } catch (const Error&) {
    return UINT64_MAX;  // not ours to read
  }
}

void set_shape(const std::string& text, diagnose::JobContext& context) {
  try {
    if (text.empty()) return;
    const topology::Dims dims = topology::parse_dims(text);
    context.nodes = dims.host_count();
    context.ranks_per_node = dims.gpus_per_node;
  } catch (const Error&) {
    return;  // written by hand
  }
}

// Its last bytes; "" where it is missing or not readable.
std::string read_log_tail(System& system, const std::string& log) {
  const std::uint64_t size = size_of(system, log);
  if (size == 0 || size == UINT64_MAX) return {};
  const auto end = system.files.read_from(log, size - std::min<std::uint64_t>(size, last_bytes), last_bytes);
  return end ? end->bytes : std::string();
}

bool is_bad_end(const JobStatus& status) {
  if (is_saved_end(status)) return false;
  const JobState state = status.state;
  return state == JobState::failed || state == JobState::out_of_memory || state == JobState::node_failed ||
         state == JobState::timed_out;
}

}  // namespace

std::string FailureSummary::cause() const {
  if (first.empty()) return title;
  return is_reason && first.find(title) == std::string::npos ? first + ": " + title : first;
}

bool is_saved_end(const JobStatus& status) {
  return status.state == JobState::failed && status.exit_status == 75;
}

diagnose::LogSource log_source_of(SchedulerKind kind) {
  if (kind == SchedulerKind::slurm) return diagnose::LogSource::slurm;
  if (is_pbs_like(kind)) return diagnose::LogSource::pbs;
  return diagnose::LogSource::unknown;
}

FailureSummary read_job_words(System& system, const JobRef& job, const JobStatus& status) {
  if (job.output.empty() || !is_bad_end(status)) return {};
  FailureSummary words = read_script_words(system, job);
  if (!words.first.empty()) return words;  // nothing was started
  const auto starter = log_source_of(job.scheduler);
  diagnose::LogAnalysis analysis(fit_signatures(system, job, diagnose::read_known_signatures(system)));
  LogEnd end;
  read_source(system, job.output, analysis, end);
  LogEnd end_of_spool;
  read_source(system, spool_log(system, job), analysis, end_of_spool);
  // A job that its scheduler ended has no status of its own: a supposed one would match signatures of
  // programs.
  const int logged_status = status.exit_status.value_or(0);
  const diagnose::JobContext context = job_context(system, job, status);
  diagnose::RunStatus end_of_job{status.exit_status, starter};
  end_of_job.names_ranks = context.names_ranks;
  auto found = analysis.diagnosis(end_of_job);
  if (found.first_failing && found.first_failing->place.rank) {
    const diagnose::FailingRank& first = *found.first_failing;
    words.first = fmt::format("rank {}{} failed first: {}", *first.place.rank,
                              first.place.host.empty() ? "" : " on " + printable(first.place.host, 64),
                              printable(first.how, 200));
    if (logged_status > 128 && submitted_setting(system, job, "runner") == "srun")
      words.status = own_status(first);
    // The status of ranks that were ended does not show the cause.
    end_of_job.status.reset();
    if (logged_status > 128) found = analysis.diagnosis(end_of_job);
  }
  const std::string_view said = diagnose::find_launch_end(*diagnose::builtin_signatures(), end.last);
  if (!said.empty()) words.first = printable(said, 300);
  words.is_reason = found.cause && found.cause->kind <= diagnose::SignatureClass::likely;
  // That the time was up is known; what made the job reach its limit is not. The ranks were ended then.
  const bool is_limit =
      !words.is_reason || diagnose::is_time_limit(*found.cause, *diagnose::builtin_signatures());
  if (status.state == JobState::timed_out && is_limit) return {};
  if (!found.cause) return words;
  const bool likely = found.verdict == diagnose::Verdict::likely_cause;
  words.title = (likely ? "most likely: " : "") + printable(found.cause->title, 200);
  // Ranks wait until they are ended: none failed first.
  if (diagnose::is_stall(*found.cause)) words.first.clear();
  found = diagnose::fit_to_job(std::move(found), context, *diagnose::builtin_signatures());
  name_host(found.cause->remedies, status);
  const bool is_of_log = found.cause->id != diagnose::scheduler_end_id;
  if (is_of_log && !end.has_diagnosis) words.diagnosis = diagnose::render_diagnosis(found);
  return words;
}

FailureSummary read_script_words(System& system, const JobRef& job) {
  FailureSummary words;
  const auto reason = read_stop_reason(system, job);
  if (!reason) return words;
  const std::string tail = reason->is_of_doctor() ? read_log_tail(system, job.output) : "";
  add_reason(*reason, split(tail, '\n'), words);
  return words;
}

FailureSummary read_script_words(System& system, const std::string& log) {
  FailureSummary words;
  const std::string tail = read_log_tail(system, log);
  const auto lines = split(tail, '\n');
  const auto reason = find_stop_reason(lines);
  if (!reason) return words;
  add_reason(*reason, lines, words);
  for (std::string& remedy : words.remedies) remedy = mark_as_printed(remedy);
  return words;
}

std::shared_ptr<const diagnose::SignatureSet> fit_signatures(
    System& system, const JobRef& job, std::shared_ptr<const diagnose::SignatureSet> all) {
  const auto reason = read_stop_reason(system, job);
  if (!job.submitted_here() || (reason && reason->is_of_doctor())) return all;
  const auto leave_out = [](const diagnose::SignatureSet& set) {
    return std::make_shared<const diagnose::SignatureSet>(
        diagnose::without_signature(set, diagnose::nothing_started_id));
  };
  // One set for all jobs: its index is kept.
  static std::shared_ptr<const diagnose::SignatureSet> last_all, last;
  if (all != last_all) last = leave_out(*all);
  last_all = std::move(all);
  return last;
}

diagnose::JobContext job_context(System& system, const JobRef& job, const JobStatus& status) {
  diagnose::JobContext context;
  context.scheduler = log_source_of(job.scheduler);
  context.id = job.id;
  if (job.submitted_here()) {
    const JobSettings settings = submitted_settings(system, job);
    const std::string runner = text_of(settings, "runner");
    set_shape(text_of(settings, "dims"), context);
    const bool is_own = runner.empty() || runner == "ddlrun";
    context.ends_stalls = text_of(settings, "on_stall") == "end";
    if (const auto program = settings.find("program"); program != settings.end())
      for (const YamlValue& word : program->second.value.items) context.program.push_back(word.text);
    context.submit = is_own ? "ddlrun submit" : "ddlrun submit --runner ddlrun";
    const std::string output = text_of(settings, "rank_output");
    context.names_ranks = is_own && (output == "prefix" || output == "files");
  }
  context.is_certain = status.state == JobState::cancelled || is_saved_end(status);
  const bool is_by_scheduler =
      is_bad_end(status) && (status.state != JobState::failed || !status.exit_status);
  if (context.is_certain || is_by_scheduler) context.end = render_scheduler_end(status);
  return context;
}

void add_task_causes(System& system, JobStatus& status, std::uint64_t most_bytes) {
  constexpr int most_logs = 4;
  int looked_at = 0;
  for (JobStatus& task : status.tasks) {
    if (task.state != JobState::failed || looked_at++ >= most_logs) continue;
    const auto part = find_remembered_job(system, task.id);
    if (!part || size_of(system, part->output) > most_bytes) continue;
    const std::string cause = read_job_words(system, *part, task).cause();
    if (cause.empty()) continue;
    task.explained = cause;
    task.reason.clear();
  }
}

void add_cause(System& system, const JobRef& job, JobStatus& status, std::uint64_t most_bytes) {
  if (is_saved_end(status)) {
    const auto next = read_next_job(system, job);
    status.explained = next ? "stopped by its signal, and saved; goes on as job " + printable(next->id, 64)
                            : std::string(saved_end_text);
  }
  if (job.submitted_here() && !status.tasks.empty()) add_task_causes(system, status, most_bytes);
  if (status.state == JobState::cancelled) remember_cause(system, job, status.clear_reason(), std::nullopt);
  if (!job.submitted_here() || !is_bad_end(status)) return;
  std::string cause = job.last.explained;
  if (is_over(job.last.state) && job.last.exit_status && !cause.empty()) {
    status.exit_status = job.last.exit_status;
  } else if (size_of(system, job.output) <= most_bytes) {
    const FailureSummary words = read_job_words(system, job, status);
    cause = words.cause();
    if (words.status) status.exit_status = words.status;
    if (!cause.empty()) remember_cause(system, job, cause, words.status);
  }
  const bool is_unexplained = status.state == JobState::failed || status.state == JobState::timed_out;
  if (is_unexplained && !cause.empty()) {
    status.explained = cause;
    status.reason.clear();
  }
}

}  // namespace ddlrun::schedulers
