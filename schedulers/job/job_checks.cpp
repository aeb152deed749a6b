// SPDX-License-Identifier: MIT
// Values against each other: what a job does with its time, its signal and its tasks.
#include "base/text/text.hpp"
#include "schedulers/job/job_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

// sbatch(1), --signal: "Due to the resolution of event handling by Slurm, the signal may be sent up to 60
// seconds earlier than specified." A timer in the script would be exact, but would miss what Slurm's own
// signal follows: a changed time limit, and a preemption with send_user_signal.
constexpr std::uint32_t slurm_resolution = 60;

// Whether these seconds are a tenth of the job or more.
bool is_signal_early(const JobSpec& job) {
  return job.scheduler == SchedulerKind::slurm && job.walltime_seconds > 0 &&
         job.walltime_seconds <= std::uint64_t{slurm_resolution} * 10;
}

// A user should know a limit before it ends the job.
void remark_on_limit(const SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  const std::string origin = reader.origin_of("walltime");
  if (job.walltime_seconds > 0 && origin.starts_with("profile "))
    parsed.remarks.push_back(
        fmt::format("walltime: {}, by the {}", render_walltime(job.walltime_seconds), origin));
  if (!origin.empty() || job.scheduler == SchedulerKind::local || !job.script_template.empty()) return;
  const bool slurm = job.scheduler == SchedulerKind::slurm;
  const std::string_view kind = slurm ? "partition" : "queue";
  const std::string whose =
      job.queue.empty() ? fmt::format("the default {}", kind) : fmt::format("{} {}", kind, job.queue);
  const bool is_list = job.queue.find(',') != std::string::npos;
  const std::string ask = slurm && is_list ? fmt::format("sinfo -p {} -o '%P %L'", job.queue)
                          : slurm
                              ? "scontrol show partition " + job.queue + (job.queue.empty() ? "" : " ") +
                                    "| grep -o 'DefaultTime=[^ ]*'"
                              : "qstat -Qf " + job.queue + (job.queue.empty() ? "" : " ") + "| grep walltime";
  parsed.remarks.push_back(fmt::format("walltime: not set, so the time limit is that of {}: {}", whose, ask));
}

// "log.txt" -> "log.%a.txt"
std::string with_task(const std::string& path) {
  const std::size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_end = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  return has_end ? path.substr(0, dot) + ".%a" + path.substr(dot) : path + ".%a";
}

// Tasks that share a log write into each other's lines, and none of them can be shown alone.
void check_task_logs(SettingReader& reader, const JobSpec& job) {
  if (!job.array || array_tasks(*job.array) == 1 || job.output.empty()) return;
  const bool slurm = job.scheduler == SchedulerKind::slurm;
  for (std::size_t i = 0; i + 1 < job.output.size(); ++i) {
    if (job.output[i] != '%') continue;
    const char next = job.output[++i];  // "%%a" is no task
    if (next == 'a' || (slurm && next == 'j')) return;
  }
  const Setting* output = reader.find("output");
  const std::string written = output == nullptr ? job.output : output->value.text;
  reader.add_error("output",
                   fmt::format("output {}: one file for all {} of the array", shown(written),
                               counted(array_tasks(*job.array), "task")),
                   with_task(written));
}

void remark_on_staging(ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  if (!job.data || job.data->to.empty() || !job.script_template.empty()) return;
  parsed.remarks.push_back(
      fmt::format("data: the copy in {} stays on each host after the job; the next job that copies {} there "
                  "brings it up to date",
                  printable(job.data->to), printable(job.data->from)));
}

void check_life(SettingReader& reader, ParsedJob& parsed) {
  const JobSpec& job = parsed.job;
  const bool timed = job.walltime_seconds > 0;
  if (timed && job.signal.before_seconds >= job.walltime_seconds) {
    reader.add_error(
        "signal",
        fmt::format("the signal comes {} s before the end, walltime ({}) is {} s", job.signal.before_seconds,
                    reader.origin_of("walltime"), job.walltime_seconds),
        fmt::format("{}@{}{}", job.signal.name, std::max<std::uint64_t>(1, job.walltime_seconds / 10),
                    is_signal_early(job) ? "   # Slurm sends it up to 60 s earlier" : ""));
  } else if (job.signal.before_seconds > 0 && is_signal_early(job)) {
    parsed.remarks.push_back(fmt::format(
        "signal: Slurm sends {} up to {} s early, so {} to {} s before the end of a walltime of {}",
        job.signal.name, slurm_resolution, job.signal.before_seconds,
        std::min<std::uint64_t>(job.signal.before_seconds + slurm_resolution, job.walltime_seconds),
        render_walltime(job.walltime_seconds)));
  }
  if (!timed && job.signal.before_seconds > 0 && reader.find("walltime") == nullptr) {
    reader.add_error("signal", "a signal before the time limit needs a walltime",
                     fmt::format("{}@{}   # and walltime: 4h", job.signal.name, job.signal.before_seconds));
  }
  if (job.requeue.wanted && job.signal.before_seconds == 0 && reader.find("signal") == nullptr) {
    parsed.remarks.push_back(
        "requeue: no signal is set, so the job does not start again at its time limit, only after status 75 "
        "(signal: USR1@120)");
  }
  if (!job.mail_events.empty() && job.mail.empty() && reader.find("mail") == nullptr) {
    reader.add_error("mail_events", fmt::format("mail_events {}, but no address", job.mail_events),
                     job.mail_events + "   # and mail: me@example.org");
  }
  if (!job.array) return;
  const std::uint64_t tasks = array_tasks(*job.array);
  const std::uint64_t runs = tasks * (job.requeue.wanted ? job.requeue.max_restarts + 1 : 1);
  constexpr std::uint64_t most_runs = 100'000;
  if (runs > most_runs) {
    reader.add_error("array",
                     fmt::format("{} x {} can become {} runs, at most {} are taken", counted(tasks, "task"),
                                 counted(runs / tasks, "start"), runs, most_runs),
                     "0-999");
  }
  if (job.array->max_parallel > tasks) {
    parsed.remarks.push_back(
        fmt::format("array: {} at once of {}: no limit", job.array->max_parallel, counted(tasks, "task")));
  }
  if (!job.hosts.empty() && tasks > 1) {
    parsed.remarks.push_back(fmt::format("array: {} ask for the same {}, so they run one after another",
                                         counted(tasks, "task"), counted(job.hosts.size(), "host")));
  }
}

}  // namespace

void check_combinations(SettingReader& reader, ParsedJob& parsed) {
  check_portable_values(reader, parsed);
  check_passed_options(reader, parsed.job);
  check_life(reader, parsed);
  check_task_logs(reader, parsed.job);
  remark_on_staging(parsed);
  remark_on_limit(reader, parsed);
  check_directives(reader, parsed);
}

}  // namespace ddlrun::schedulers
