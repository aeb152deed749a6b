// SPDX-License-Identifier: MIT
#include "schedulers/client/submitted_job.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/job_directory.hpp"
#include "schedulers/job/template_coverage.hpp"
#include "templates/user_template.hpp"

#include <fmt/format.h>

#include <set>

namespace ddlrun::schedulers {

namespace {

constexpr std::uint64_t max_array_index = 100000;
constexpr std::uint64_t max_kept_template_bytes = 1u << 20;
constexpr std::uint64_t last_log_bytes = 1u << 16;

std::string read_log_end(System& system, const std::string& log) {
  try {
    const auto file = log.empty() ? std::nullopt : system.files.read_from(log, 0, 0);
    if (!file) return {};
    const std::uint64_t begin = file->size > last_log_bytes ? file->size - last_log_bytes : 0;
    const auto end = system.files.read_from(log, begin, last_log_bytes);
    return end ? end->bytes : std::string();
  } catch (const Error&) {
    return {};  // not ours to read
  }
}

// pbs_mom of OpenPBS and of Torque writes this line to the job's stderr when it ends the job.
bool reports_walltime(System& system, const std::string& log) {
  return read_log_end(system, log).find("=>> PBS: job killed: walltime ") != std::string::npos;
}

// "0-9:2", "3"
void add_tasks_of(std::string_view range, std::set<std::uint64_t>& tasks) {
  const auto by_step = split(range, ':');
  const auto ends = split(by_step.empty() ? std::string_view() : by_step[0], '-');
  if (ends.empty()) return;
  const auto first = parse_unsigned(trim(ends.front()), max_array_index);
  const auto last = parse_unsigned(trim(ends.back()), max_array_index);
  const auto step = by_step.size() > 1 ? parse_unsigned(trim(by_step[1]), max_array_index) : 1;
  if (!first || !last || step.value_or(0) == 0) return;
  for (std::uint64_t index = *first; index <= *last; index += *step) tasks.insert(index);
}

}  // namespace

JobSettings submitted_settings(System& system, const JobRef& job) {
  if (!job.submitted_here()) return {};
  const std::string file = job.dir + "/ddlrun.yaml";
  try {
    std::vector<Message> errors;
    return read_job_settings(system.files.read(file, max_settings_bytes), file, errors);
  } catch (const Error&) {
    return {};  // the directory is gone
  }
}

std::string submitted_setting(System& system, const JobRef& job, const std::string& key) {
  return text_of(submitted_settings(system, job), key);
}

std::vector<std::uint64_t> submitted_tasks(System& system, const JobRef& job) {
  const std::string array = submitted_setting(system, job, "array");  // "0-9:2%4", "0,2,5"
  std::set<std::uint64_t> tasks;
  for (const std::string_view range : split(std::string_view(array).substr(0, array.find('%')), ','))
    add_tasks_of(range, tasks);
  return {tasks.begin(), tasks.end()};
}

std::string task_id(const JobRef& job, std::uint64_t index) {
  const std::size_t brackets = job.id.find("[]");
  if (brackets == std::string::npos) return fmt::format("{}_{}", job.id, index);
  return fmt::format("{}[{}]{}", job.id.substr(0, brackets), index, job.id.substr(brackets + 2));
}

IdParts parts_of(const std::string& id) {
  const std::size_t at = id.find_first_of("_[");
  if (at == std::string::npos) return {id, ""};
  if (id[at] == '_') return {id.substr(0, at), id.substr(at + 1)};
  const std::size_t close = id.find(']', at);
  if (close == std::string::npos) return {id, ""};
  return {id.substr(0, at) + "[]" + id.substr(close + 1), id.substr(at + 1, close - at - 1)};
}

std::optional<int> read_exit_status(System& system, const JobRef& job) {
  if (!job.submitted_here()) return std::nullopt;
  try {
    const auto part =
        system.files.read_from(job.files().exit_status() + (job.task.empty() ? "" : "." + job.task), 0, 64);
    if (!part) return std::nullopt;
    const auto number = parse_unsigned(trim(part->bytes), 255);
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // not readable: the scheduler has the state
  }
}

std::string spool_log(System& system, const JobRef& job) {
  if (!job.submitted_here() || !is_pbs_like(job.scheduler)) return {};
  if (job.task.empty()) return submitted_tasks(system, job).empty() ? job.files().spool() : "";
  // qsub(1B) of Torque: the index is appended to the path of an array.
  return job.scheduler == SchedulerKind::torque ? job.files().spool() + "-" + job.task
                                                : fmt::format("{}/scheduler.{}.log", job.dir, job.task);
}

bool was_timed_out(System& system, const JobRef& job) {
  if (!job.submitted_here()) return false;
  if (job.scheduler == SchedulerKind::local) return system.files.exists(job.dir + "/timed_out");
  if (!is_pbs_like(job.scheduler)) return false;
  const std::string spool = spool_log(system, job);
  return reports_walltime(system, !spool.empty() && system.files.exists(spool) ? spool : job.output);
}

bool launch_ended_well(System& system, const std::string& log) {
  constexpr std::string_view lead = "ddlrun: the job ";
  bool is_well = false;
  const std::string end = read_log_end(system, log);
  for (const std::string_view line : split(end, '\n'))
    if (line.starts_with(lead)) is_well = line.substr(lead.size()).starts_with("ended well; run directory ");
  return is_well;
}

JobStatus status_of_written(const JobRef& job, int written, bool timed_out) {
  JobStatus status;
  status.id = job.id;
  status.state = written == 0 ? JobState::completed : JobState::failed;
  status.exit_status = written;
  if (written > 128 && written <= 128 + 64) status.signal = written - 128;
  status.word = "by its own exit_status file";
  if (timed_out && written != 0) {
    status.state = JobState::timed_out;
    status.explained = "its walltime was used up";
  }
  return status;
}

bool has_known_log(System& system, const JobRef& job) {
  if (!job.submitted_here()) return false;
  const std::string file = kept_template(job.files());
  if (!system.files.exists(file)) return true;
  try {
    return template_sets_log(job.scheduler,
                             templates::placeholder_names(system.files.read(file, max_kept_template_bytes)));
  } catch (const Error&) {
    return false;  // not ours to read
  }
}

Message why_no_log(System& system, const JobRef& job, const std::string& command) {
  const std::string id = printable(job.id);
  if (!job.submitted_here())
    return {
        fmt::format("job {} was not submitted by ddlrun here, and its scheduler has no path of its log", id),
        "", fmt::format("the log itself: less FILE, ddlrun diagnose FILE; ddlrun status {}", id)};
  if (!has_known_log(system, job)) {
    return {
        fmt::format(
            "job {} came of a template that has no placeholder for its output, so its log is not known", id),
        kept_template(job.files()),
        is_pbs_like(job.scheduler) ? "exec >>{{output|sh}} 2>&1   # in the template, next time"
                                   : "#SBATCH --output={{output|sbatch}}   # in the template, next time"};
  }
  const auto tasks = submitted_tasks(system, job);
  return {fmt::format("job {} is an array: each task has a log of its own", id), job.dir,
          tasks.empty() ? "ls " + quote_shell(job.dir)
                        : fmt::format("ddlrun {} {}", command, quote_shell(task_id(job, tasks.front())))};
}

}  // namespace ddlrun::schedulers
