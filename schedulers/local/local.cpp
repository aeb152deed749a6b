// SPDX-License-Identifier: MIT
// No scheduler: the script runs in the background of this host, in a session of its own. Its id is
// PID-START@HOST, so that a number that the system gave to another process later is not taken for it. How it
// ended, only its own exit_status file has its status.
#include "base/process/process_stat.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/scheduler_errors.hpp"
#include "schedulers/job/scheduler_kinds.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/script_fragment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace ddlrun::schedulers {

namespace {

// Exit statuses of templates/script/local_cancel.sh.
constexpr int kGone = 3, kElsewhere = 4;

struct LocalId {
  std::string pid, start, host;
};

std::optional<LocalId> parse_local_id(std::string_view id) {
  const std::size_t dash = id.find('-'), at = id.find('@');
  if (dash == std::string_view::npos || at == std::string_view::npos || at < dash) return std::nullopt;
  LocalId parts{std::string(id.substr(0, dash)), std::string(id.substr(dash + 1, at - dash - 1)),
                std::string(id.substr(at + 1))};
  const bool good = parse_unsigned(parts.pid) && parse_unsigned(parts.start) && !parts.host.empty();
  return good ? std::optional(parts) : std::nullopt;
}

// The fragment's text is constant; paths and numbers are arguments: $1, $2, ...
Command shell(std::string_view fragment, const std::vector<std::string>& arguments) {
  Command command = {"/bin/sh", "-c", script_text(fragment), "sh"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

JobStatus status_of(const JobId& id, const std::string& host, const std::vector<ProcessStat>& processes) {
  const auto parts = parse_local_id(id);
  if (!parts) return unknown_job(id, "this is no id of a job without scheduler: PID-START@HOST");
  if (parts->host != host)
    return unknown_job(id, fmt::format("it was started on {}, this is {}: ask there", parts->host, host));
  const auto same = [&](const ProcessStat& process) {
    return std::to_string(process.pid) == parts->pid && std::to_string(process.started_ticks) == parts->start;
  };
  const auto found = std::find_if(processes.begin(), processes.end(), same);
  if (found == processes.end() || found->state == 'Z' || found->state == 'X')
    return unknown_job(id, "its process is gone; the exit_status file in its directory has its status");
  JobStatus status;
  status.id = id;
  status.state = JobState::running;
  status.word = std::string(1, found->state);
  status.hosts = host;
  return status;
}

class Local : public Scheduler {
 public:
  std::string_view name() const override { return "local"; }
  std::string_view tool() const override { return "bash"; }

  Script render(const JobSpec& job, const JobDirectory& dir,
                const templates::SiteProfile& site) const override {
    return render_local(job, dir, site);
  }

  Command submit_command(const JobSpec& job, const std::string& script) const override {
    const std::string dir = script.substr(0, script.rfind('/') + 1);
    return shell("local_start", {script, job.output.empty() ? dir + "output.log" : job.output});
  }

  std::vector<std::string> overriding_variables(const EnvVars&) const override { return {}; }

  JobId read_submission(const ProcessResult& answer) const override {
    if (!answer.ok()) throw_scheduler_error("bash", answer, {});
    const JobId id(trim(answer.out));
    if (parse_local_id(id)) return id;
    throw Error(ErrorKind::scheduler,
                {fmt::format("the script was started, but not seen to run: \"{}\"", reported_text(answer)),
                 "bash", "read output.log in the job's directory"});
  }

  std::map<JobId, JobStatus> read_states(std::span<const JobId> ids,
                                         const CommandRunner& ask) const override {
    std::map<JobId, JobStatus> statuses;
    if (ids.empty()) return statuses;
    std::vector<std::string> pids;
    for (const JobId& id : ids)
      if (const auto parts = parse_local_id(id)) pids.push_back(parts->pid);
    const ProcessResult answer = ask(shell("local_state", pids));
    if (!answer.ok()) throw_query_error("sh", answer);
    std::string host;
    std::vector<ProcessStat> processes;
    for (const std::string_view line : split(answer.out, '\n')) {
      if (host.empty())
        host = trim(line);
      else if (const auto process = parse_process_stat(line))
        processes.push_back(*process);
    }
    for (const JobId& id : ids) statuses[id] = status_of(id, host, processes);
    return statuses;
  }

  Command cancel_command(const JobId& id) const override {
    const auto parts = parse_local_id(id);
    if (!parts)
      throw Error(ErrorKind::request,
                  {fmt::format("\"{}\" is no id of a job without scheduler", printable(id)), "",
                   "ddlrun status shows the ids: PID-START@HOST"});
    return shell("local_cancel", {parts->pid, parts->start, parts->host});
  }

  std::string read_cancellation(const JobId& id, const ProcessResult& answer) const override {
    if (answer.exit_status == kGone) return fmt::format("{} is already over", id);
    if (answer.exit_status == kElsewhere)
      throw Error(ErrorKind::request, {fmt::format("{} is not on this host", id), "",
                                       "ddlrun cancel on the host that stands behind its @"});
    if (!answer.ok()) throw_scheduler_error("kill", answer, {});
    return fmt::format("{} is being ended", id);
  }
};

}  // namespace

std::unique_ptr<Scheduler> make_local() { return std::make_unique<Local>(); }

}  // namespace ddlrun::schedulers
