// SPDX-License-Identifier: MIT
#include "schedulers/job/job_state.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::schedulers {

namespace {

// From good to bad among those that are over: what an array is called by.
constexpr std::array kOver = {JobState::completed, JobState::cancelled,     JobState::failed,
                              JobState::timed_out, JobState::out_of_memory, JobState::node_failed};

constexpr std::array<std::pair<JobState, std::string_view>, 10> kNames = {{
    {JobState::queued, "queued"},
    {JobState::held, "held"},
    {JobState::running, "running"},
    {JobState::completed, "completed"},
    {JobState::failed, "failed"},
    {JobState::cancelled, "cancelled"},
    {JobState::timed_out, "timed out"},
    {JobState::node_failed, "node failed"},
    {JobState::out_of_memory, "out of memory"},
    {JobState::unknown, "unknown"},
}};

// Higher wins in the join.
int weight(JobState state) {
  switch (state) {
    case JobState::running:
      return 100;
    case JobState::queued:
      return 90;
    case JobState::held:
      return 80;
    case JobState::unknown:
      return -1;
    default:
      return static_cast<int>(std::find(kOver.begin(), kOver.end(), state) - kOver.begin());
  }
}

// Each host once; the hosts of the first task whose text is no host list, as they are.
std::string hosts_of(const std::vector<JobStatus>& tasks) {
  std::vector<std::string> hosts;
  for (const JobStatus& task : tasks) {
    if (task.hosts.empty()) continue;
    try {
      for (std::string& host : expand_host_list(task.hosts))
        if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(std::move(host));
    } catch (const Error&) {
      return task.hosts;
    }
  }
  return fold_host_list(hosts);
}

}  // namespace

std::string_view name_of(JobState state) {
  for (const auto& [value, name] : kNames)
    if (value == state) return name;
  return "unknown";
}

std::optional<JobState> parse_job_state(std::string_view name) {
  for (const auto& [value, known] : kNames)
    if (known == name) return value;
  return std::nullopt;
}

bool is_over(JobState state) { return std::find(kOver.begin(), kOver.end(), state) != kOver.end(); }

bool JobStatus::never_started() const {
  const bool may_wait = state == JobState::cancelled || state == JobState::failed;
  const bool is_unrun = may_wait && hosts.empty() && !exit_status;
  return is_unrun && std::ranges::all_of(tasks, &JobStatus::never_started);
}

JobStatus join_tasks(JobId id, std::vector<JobStatus> tasks) {
  JobStatus joined;
  joined.id = std::move(id);
  const JobStatus* worst = nullptr;
  for (const JobStatus& task : tasks) {
    if (worst == nullptr || weight(task.state) > weight(worst->state)) worst = &task;
    if (task.exit_status) joined.exit_status = std::max(joined.exit_status.value_or(0), *task.exit_status);
    joined.restarts = std::max(joined.restarts, task.restarts);
    if (joined.queue.empty()) joined.queue = task.queue;
    joined.run_seconds = std::max(joined.run_seconds, task.run_seconds);
  }
  if (worst != nullptr) {
    joined.state = worst->state;
    joined.word = worst->word;
    joined.signal = worst->signal;
    joined.reason = worst->reason;
    joined.explained = worst->explained;
    joined.hosts = hosts_of(tasks);
  }
  const auto waits = [](const JobStatus& task) { return !is_over(task.state); };
  const auto stuck = [&](const JobStatus& task) { return !waits(task) || task.never; };
  if (std::any_of(tasks.begin(), tasks.end(), waits) && std::all_of(tasks.begin(), tasks.end(), stuck)) {
    joined.never = true;
    joined.remedy = worst->remedy;
  }
  if (!is_over(joined.state)) joined.exit_status.reset();  // the last word is not spoken
  joined.tasks = std::move(tasks);
  return joined;
}

}  // namespace ddlrun::schedulers
