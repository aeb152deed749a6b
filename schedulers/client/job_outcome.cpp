// SPDX-License-Identifier: MIT
#include "schedulers/client/job_outcome.hpp"

#include "base/text/error.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "doctor/diagnose/exit_status.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/job_history.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace ddlrun::schedulers {

namespace {

std::string because(const JobStatus& status) {
  if (status.explained.empty()) return status.reason.empty() ? "" : printable(status.reason);
  if (status.reason.empty()) return printable(status.explained, 400);
  return printable(status.explained, 400) + " (" + printable(status.reason) + ")";  // the clear words first
}

std::string how_it_failed(const JobRef& job, const JobStatus& status, const std::string& first) {
  if (!status.exit_status) return "failed";
  std::string text = fmt::format("failed with exit status {}", *status.exit_status);
  if (!first.empty()) return text + ": " + first;
  if (!status.explained.empty()) return text + ": " + printable(status.explained, 400);
  const std::string meaning = diagnose::status_meaning({status.exit_status, log_source_of(job.scheduler)});
  return meaning.empty() ? text : text + ": " + meaning;
}

std::string how_job_ended(const JobRef& job, const JobStatus& status, const std::string& first) {
  switch (status.state) {
    case JobState::completed:
      return status.at_limit ? "completed: " + status.explained : "completed";
    case JobState::failed:
      if (is_saved_end(status)) return "was stopped by its signal, and saved (exit status 75)";
      return how_it_failed(job, status, first);
    case JobState::cancelled:
      return "was cancelled";
    case JobState::timed_out:
      return "used up its time limit and was ended" + (first.empty() ? "" : ": " + first);
    case JobState::node_failed:
      return "lost a host";
    case JobState::out_of_memory:
      return "was ended because it used more memory than it had requested";
    case JobState::unknown:
      return job.submitted_here() ? "is unknown to the scheduler and has no exit status"
                                  : "is unknown to the scheduler";
    default:
      return status.never ? "can never run and is left in the queue" : std::string(name_of(status.state));
  }
}

// Not what it had already.
std::string after_time_limit(System& system, const JobRef& job) {
  const std::string longer = "a longer --walltime";
  const JobSettings settings = submitted_settings(system, job);
  const bool signalled = !text_of(settings, "signal").empty();
  const std::string again = text_of(settings, "requeue");
  const bool starts_again = !again.empty() && again != "no" && again != "0" && again != "false";
  if (starts_again && !signalled)
    return fmt::format(
        "--signal USR1@120, without which requeue does not start it again at its time limit; or ddlrun "
        "resubmit {}; "
        "or {}",
        quote_shell(job.id), longer);
  if (starts_again) return longer;
  if (signalled) return longer + "; or --requeue yes, and a program that saves on the signal and exits 75";
  return longer + "; or --signal USR1@120 --requeue yes, and a program that saves on USR1 and exits 75";
}

// A program that does not handle the job's warning signal ends by it.
std::string after_own_signal(System& system, const JobRef& job, const JobStatus& status) {
  const std::string signal = submitted_setting(system, job, "signal");  // "USR1@120"
  const std::string name = signal.substr(0, signal.find('@'));
  const int exit_status =
      status.exit_status ? *status.exit_status : read_exit_status(system, job).value_or(0);
  const int number = exit_status > 128 ? exit_status - 128 : status.signal;
  if (name.empty() || number <= 0 || signal_name(number) != "SIG" + name) return {};
  return fmt::format("handle {0} in the program (save, then exit 75), or omit --signal {1}, which ended it",
                     name, printable(signal, 40));
}

// "8_2" -> "2", "3[1].server" -> "1"
std::string task_index(const JobId& id) {
  const std::size_t at = id.find_first_of("_[");
  return at == std::string::npos ? id : id.substr(at + 1, id.find(']', at) - at - 1);
}

// "running: task 1 on node1, task 2 on node2; 3 queued"; why they wait is named once.
std::string render_task_states(const JobStatus& status) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> running;
  std::map<JobState, std::size_t> others;
  std::string waits;
  for (const JobStatus& task : status.tasks) {
    if (task.state == JobState::running) {
      running.push_back(fmt::format("task {}{}", task_index(task.id),
                                    task.hosts.empty() ? "" : " on " + printable(task.hosts, 64)));
      continue;
    }
    ++others[task.state];
    if (waits.empty() && !is_over(task.state)) waits = because(task);
  }
  if (!running.empty()) waits.clear();
  std::vector<std::string> parts;
  if (!running.empty()) parts.push_back("running: " + join_first(running, most_named));
  for (const auto& [state, count] : others) parts.push_back(fmt::format("{} {}", count, name_of(state)));
  return join(parts, "; ") + (waits.empty() ? "" : ", " + waits);
}

// The scheduler could not write the log: a job ends then before its first line. "" where the directory is
// there.
std::string find_missing_directory(System& system, const JobRef& job, const std::string& log) {
  if (!log.starts_with('/') || job.scheduler == SchedulerKind::local || system.files.exists(log)) return "";
  const std::string directory = directory_of(log);
  const bool is_pattern = directory.find_first_of("%$") != std::string::npos;
  return is_pattern || system.files.exists(directory) ? "" : directory;
}

// What to type next.
std::string next_step(System& system, const JobRef& job, const JobStatus& status) {
  if (status.never) return fmt::format("ddlrun cancel {}; then {}", quote_shell(job.id), status.remedy);
  switch (status.state) {
    case JobState::timed_out:
      if (read_exit_status(system, job) == 0)
        return job.output.empty() ? "" : "less " + quote_shell(job.output);
      return after_time_limit(system, job);
    case JobState::failed:
      if (is_saved_end(status))
        return fmt::format(
            "ddlrun resubmit {}   # continues, if the program reads what it saved (ddl-train: --resume)",
            quote_shell(job.id));
      return after_own_signal(system, job, status);
    case JobState::node_failed:
      return "the same again; --requeue yes lets the scheduler do it; ddlrun doctor " +
             (status.hosts.empty() ? std::string("HOSTS") : printable(status.hosts));
    case JobState::out_of_memory:
      return "a larger --memory, or fewer ranks per node";
    case JobState::unknown:
      return !job.output.empty() && system.files.exists(job.output) ? "less " + quote_shell(job.output)
                                                                    : "ddlrun jobs";
    default:
      return {};
  }
}

// Where the logs of an array's tasks are, "TASK" for the index; "" of any other job.
std::string find_task_logs(System& system, const JobRef& job) {
  const bool is_array = job.submitted_here() && job.output.empty() && job.task.empty();
  const auto part = is_array ? remembered_job(system, job.id, "TASK") : std::nullopt;
  return part ? part->output : std::string();
}

// Never started, or never will, and no log of it lies there.
bool wrote_nothing(System& system, const JobRef& job, const JobStatus& status) {
  return (status.never || status.never_started()) && (job.output.empty() || !system.files.exists(job.output));
}

// Where its output is, as the end of a sentence; "" for a job without a log and for one that never started.
std::string log_words(System& system, const JobRef& job, const JobStatus& status,
                      const std::string& of_tasks) {
  if (wrote_nothing(system, job, status)) return {};
  if (!of_tasks.empty()) return "; logs " + printable(of_tasks, 300);
  return job.output.empty() ? "" : "; log " + printable(job.output, 300);
}

}  // namespace

bool is_ending(const JobStatus& status) {
  const bool completing = status.word.find("COMPLETING") != std::string::npos;  // Slurm; E and X are PBS's
  return status.state == JobState::running && (completing || status.word == "E" || status.word == "X");
}

int exit_status_of(const JobStatus& status) {
  switch (status.state) {
    case JobState::completed:
      return 0;
    case JobState::timed_out:
      return 124;
    case JobState::cancelled:
      return 143;
    case JobState::out_of_memory:
      return 137;
    case JobState::node_failed:
      return exit_code(ErrorKind::unreachable);
    case JobState::unknown:
      return exit_code(ErrorKind::request);
    case JobState::failed:
      if (status.exit_status.value_or(0) != 0)
        return *status.exit_status & 0xff ? *status.exit_status & 0xff : 1;
      return status.signal > 0 ? 128 + status.signal : 1;
    default:
      return exit_code(ErrorKind::scheduler);
  }
}

Error unknown_job_error(const JobRef& job, const JobStatus& status) {
  std::string what =
      fmt::format("job {} is unknown, or the scheduler has forgotten it", printable(job.id, 64));
  if (!status.explained.empty()) what += ": " + printable(status.explained, 400);
  return Error(ErrorKind::request, {what, "", "ddlrun jobs"});
}

std::string render_scheduler_end(const JobStatus& status) {
  const bool is_plain = status.state == JobState::failed && !is_saved_end(status);
  const std::string how = is_plain ? "failed" : how_job_ended({}, status, "");
  const std::string why = because(status);
  return why.empty() ? how : how + ": " + why;
}

std::string render_state(const JobStatus& status) {
  if (!status.tasks.empty()) return render_task_states(status);
  std::string text(name_of(status.state));
  if (status.state == JobState::running && !status.hosts.empty())
    return text + " on " + printable(status.hosts) +
           (is_ending(status) ? "; it has ended, the scheduler is cleaning up" : "");
  if (is_ending(status)) text = "ending";
  const std::string why = because(status);
  return why.empty() ? text : text + ", " + why;
}

std::string render_end(const JobRef& job, const JobStatus& status, const std::string& first,
                       const std::string& log) {
  const std::string name = job.name.empty() ? "" : " (" + printable(job.name, 64) + ")";
  std::string text =
      fmt::format("job {}{} {}", printable(job.id, 64), name, how_job_ended(job, status, first));
  if (status.restarts > 0)
    text += fmt::format(", after {} restart{}", status.restarts, status.restarts > 1 ? "s" : "");
  // "NonZeroExitCode" and the time limit's own message add nothing; the remedy follows.
  const bool is_clear =
      status.state == JobState::completed || status.state == JobState::out_of_memory ||
      (status.state == JobState::timed_out && status.explained.rfind("its walltime", 0) == 0) ||
      (status.state == JobState::failed && status.exit_status && status.explained.empty());
  const bool by_cause = status.state == JobState::failed && status.exit_status && !status.explained.empty();
  std::string why = is_clear || by_cause ? "" : because(status);
  constexpr std::string_view said = "it can never run: ";
  if (status.never && why.starts_with(said)) why.erase(0, said.size());
  if (!why.empty()) text += "; " + why;
  text += log;
  for (const JobStatus& task : status.tasks) {
    if (task.state == JobState::completed) continue;
    text += fmt::format("\n  {} {}", printable(task.id, 64), how_job_ended(job, task, ""));
  }
  return text;
}

JobId telling_task(const std::vector<JobStatus>& tasks) {
  const auto failed = std::ranges::find_if(tasks, [](const JobStatus& task) {
    return is_over(task.state) && task.state != JobState::completed && task.state != JobState::cancelled;
  });
  if (failed != tasks.end()) return failed->id;
  return tasks.empty() ? JobId() : tasks.front().id;
}

Message no_output(System& system, const JobRef& job, const JobStatus& status) {
  const std::string id = printable(job.id, 64), typed = quote_shell(job.id);
  const std::string why = because(status);
  if (wrote_nothing(system, job, status))
    return {fmt::format("job {} never started, so it has no output: {}", id,
                        why.empty() ? std::string(name_of(status.state)) : why),
            "", fmt::format("ddlrun resubmit {}", typed)};
  if (is_over(status.state))
    return {fmt::format("job {} is over ({}) and has no output", id, name_of(status.state)),
            printable(job.output, 300), "ddlrun status " + typed};
  return {fmt::format("job {} has no output yet: {}", id, render_state(status)), "",
          "ddlrun status " + typed};
}

void print_outcome(System& system, const JobRef& job, JobStatus& status) {
  const FailureSummary words = read_job_words(system, job, status);
  if (words.status) status.exit_status = words.status;
  remember_cause(system, job, status.state == JobState::cancelled ? status.clear_reason() : words.cause(),
                 words.status);
  add_task_causes(system, status, UINT64_MAX);
  const bool is_bad = status.state != JobState::completed && !is_saved_end(status);
  const auto print = [&](const std::string& text) { is_bad ? system.show(text) : system.err(text); };
  if (!words.diagnosis.empty()) print("ddlrun: cause in the job's log:\n" + words.diagnosis);
  const std::string of_tasks = find_task_logs(system, job);
  const std::string log = log_words(system, job, status, of_tasks);
  // More time does not help a job that stood still; the diagnosis has what does.
  const bool stood_still = status.state == JobState::timed_out && !words.cause().empty();
  const bool is_failure = status.state == JobState::failed || stood_still;
  print("ddlrun: " + render_end(job, status, is_failure ? words.cause() : words.first, log) + "\n");
  std::string next = !words.remedies.empty() || stood_still ? "" : next_step(system, job, status);
  const bool may_lack = is_failure && !is_saved_end(status);
  const std::string missing =
      may_lack ? find_missing_directory(system, job, of_tasks.empty() ? job.output : of_tasks) : "";
  if (!missing.empty()) {
    print(fmt::format(
        "ddlrun: the output's directory {} does not exist: the scheduler could not write the log, and "
        "did not start the job\n",
        printable(missing, 300)));
    next = fmt::format("mkdir -p {}; then ddlrun resubmit {}", quote_shell(missing), quote_shell(job.id));
  }
  const JobId task = telling_task(status.tasks);
  if (next.empty() && words.remedies.empty() && !of_tasks.empty() && !task.empty())
    next = fmt::format("ddlrun logs {}   # the log of one task", quote_shell(task));
  if (missing.empty())
    for (const std::string& remedy : words.remedies) print("  try: " + remedy + "\n");
  if (!next.empty()) print("  try: " + next + "\n");
}

}  // namespace ddlrun::schedulers
