// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "schedulers/client/failure_summary.hpp"
#include "schedulers/client/job_outcome.hpp"
#include "schedulers/client/job_status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using TableRow = std::array<std::string, 8>;

// The end in a column, as wait gives it: "0", "139", "124" of a time limit; "-" while there is none, or where
// nothing of the job ran.
std::string exit_text(const JobStatus& status) {
  const bool failed_unrun = status.state == JobState::failed && !status.exit_status && status.signal == 0;
  return is_over(status.state) && !failed_unrun ? fmt::format("{}", exit_status_of(status)) : "-";
}

// The hosts of "node[1-4]" (Slurm) or "n1,n2" (PBS).
std::vector<std::string> hosts_in(const std::string& text) {
  try {
    return expand_host_list(text);
  } catch (const Error&) {
    return {};  // not ours to check
  }
}

std::size_t number_of_hosts(const std::string& text) { return hosts_in(text).size(); }

// "node1", "node1 +3"
std::string hosts_column(const std::string& text) {
  if (text.empty()) return "-";
  const auto hosts = hosts_in(text);
  if (hosts.empty()) return printable(text, 20);
  return hosts.size() == 1 ? hosts[0] : fmt::format("{} +{}", hosts[0], hosts.size() - 1);
}

// "0:59", "1:02:03", "26:00:00"
std::string time_column(const std::optional<std::uint64_t>& seconds) {
  if (!seconds) return "-";
  const std::uint64_t hours = *seconds / 3600, minutes = *seconds / 60 % 60;
  if (hours == 0) return fmt::format("{}:{:02}", minutes, *seconds % 60);
  return fmt::format("{}:{:02}:{:02}", hours, minutes, *seconds % 60);
}

// No host has it any more, and its end is not known yet: a task of an array that PBS deletes.
bool is_between(const JobStatus& status) { return is_ending(status) && status.hosts.empty(); }

std::string state_column(const JobStatus& status) {
  if (is_saved_end(status)) return "stopped";
  return is_between(status) ? "ending" : std::string(name_of(status.state));
}

std::string remark(const JobStatus& status) {
  std::string text;
  if (status.state == JobState::running && !is_between(status)) {
    text = number_of_hosts(status.hosts) > 1 ? status.hosts : "";  // one stands in its column
  } else if (status.state != JobState::completed || status.at_limit) {
    text = status.clear_reason();
  }
  if (status.never)
    text +=
        fmt::format("; it stays queued: ddlrun cancel {}, then {}", quote_shell(status.id), status.remedy);
  if (status.restarts > 0) text += fmt::format("{}restart {}", text.empty() ? "" : "; ", status.restarts);
  if (status.runs > 1) text += fmt::format("{}{} runs", text.empty() ? "" : "; ", status.runs);
  // A job of PBS that goes on in another job has a time for itself in its column.
  if (status.runs > 1 && (!status.run_seconds || status.all_seconds > *status.run_seconds))
    text += fmt::format(", {} in all", time_column(status.all_seconds));
  return printable(text, 400);
}

TableRow row_of(const std::string& id, const JobRef& job, const JobStatus& status) {
  const std::string& name = job.name.empty() ? status.name : job.name;
  const std::string& queue = status.queue.empty() ? job.queue : status.queue;
  return {printable(id, 64),
          state_column(status),
          exit_text(status),
          name.empty() ? "-" : printable(name, 64),
          queue.empty() ? "-" : printable(queue, 32),
          hosts_column(status.hosts),
          time_column(status.run_seconds),
          remark(status)};
}

std::string render_rows(const std::vector<TableRow>& rows) {
  std::array<std::size_t, std::tuple_size_v<TableRow> - 1> widths{};
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line += row.back();
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string render_status_table(const std::vector<JobAndStatus>& jobs) {
  std::vector<TableRow> rows{{"JOB", "STATE", "EXIT", "NAME", "QUEUE", "HOSTS", "TIME", "REMARK"}};
  for (const auto& [job, status] : jobs) {
    rows.push_back(row_of(job.id, job, status));
    for (const auto& task : status.tasks) rows.push_back(row_of("  " + task.id, job, task));
  }
  return render_rows(rows);
}

std::string render_jobs_table(const std::vector<JobAndStatus>& jobs) {
  std::vector<TableRow> rows{
      {"JOB", "STATE", "EXIT", "NAME", "QUEUE", "HOSTS", "TIME", "SUBMITTED (UTC)      DIRECTORY"}};
  for (const auto& [job, status] : jobs) {
    rows.push_back(row_of(job.id, job, status));
    rows.back().back() = job.submitted + "  " + printable(job.dir, 400);
  }
  return render_rows(rows);
}

}  // namespace ddlrun::schedulers
